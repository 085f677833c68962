import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type SampleApp, startSampleApp } from './support/start-sample-app.js';

describe('the sample application, to a browser that others have led to it', () => {
  let sample: SampleApp;

  beforeAll(async () => {
    sample = await startSampleApp();
  });
  afterAll(() => sample[Symbol.asyncDispose]());

  it.each(['/', '/page.js', '/page.css', '/docs', '/health', '/files/none', '/nowhere'])(
    'says on every answer what it may do with it: %s',
    async (path) => {
      const { headers } = await sample.request(path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain(`script-src 'self';`);
      expect(policy).toContain(`frame-ancestors 'none'`);
      expect(/script-src [^;]*unsafe/.test(policy)).toBe(false);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('DENY');
    },
  );

  it('has no script in its page', async () => {
    const html = await (await sample.request('/')).text();
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=|javascript:/i);
  });

  const append = (headers: Record<string, string>): Promise<Response> =>
    sample.request('/files/journal/append', {
      method: 'POST',
      headers: { 'content-type': 'text/plain', ...headers },
      body: 'a line',
    });

  it.each([
    { origin: 'https://elsewhere.example' },
    { origin: 'null' },
    { origin: 'no address' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('takes no change from a page of another origin: %j', async (headers) => {
    const answer = await append(headers);
    expect(answer.status).toBe(403);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await answer.json()).toEqual({
      statusCode: 403,
      message: 'Pages of other origins may not change anything here',
    });
    expect((await sample.request('/files/journal')).status).toBe(404);
    const put = { method: 'PUT', headers: { 'content-type': 'application/json', ...headers }, body: '{"quantity":1}' };
    expect((await sample.request('/inventory/apples', put)).status).toBe(403);
    expect((await sample.request('/jobs/sweep', { method: 'POST', headers })).status).toBe(403);
  });

  it('takes it from its own page, and from who is no page', async () => {
    for (const headers of [
      {},
      { origin: sample.url },
      { 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
    ]) {
      expect((await append(headers)).status).toBe(200);
    }
    expect((await sample.request('/files/journal', { headers: { origin: 'https://elsewhere.example' } })).status).toBe(
      200,
    );
  });

  /** `fetch` takes no name of one's own. */
  async function statusFor(host: string, method: string): Promise<number | undefined> {
    const { port } = new URL(sample.url);
    const headers = { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' };
    const path = method === 'GET' ? '/health' : '/files/rebound/append';
    const sent = request({ host: '127.0.0.1', port, path, method, headers: { ...headers, 'content-length': 0 } }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  }

  it.each(['GET', 'POST'])('answers no page whose name was made to lead here: %s', async (method) => {
    for (const host of ['evil.example', 'evil.example:3000', 'localhost.evil.example', '127.0.0.1.evil.example', '@']) {
      expect(await statusFor(host, method)).toBe(421);
    }
    for (const host of [
      'localhost',
      'localhost:3000',
      'app.localhost',
      '127.0.0.1:3000',
      '[::1]:3000',
      '192.168.1.2',
    ]) {
      expect(await statusFor(host, method)).toBe(200);
    }
  });
});
