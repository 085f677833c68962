import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { within } from '../../support/process/eventually.js';
import { untilQueued } from '../support/queue.js';
import { EventStream } from './support/event-stream.js';
import { type SampleApp, startSampleApp } from './support/start-sample-app.js';

/** As much of the OpenAPI document as is looked at here. */
interface ApiDescription {
  readonly paths: Record<
    string,
    Record<string, { readonly summary?: string; readonly responses: Record<string, { readonly content?: object }> }>
  >;
}

describe('the sample application', () => {
  let sample: SampleApp;

  beforeAll(async () => {
    sample = await startSampleApp();
  });
  afterAll(() => sample[Symbol.asyncDispose]());

  const json = async (path: string, init?: RequestInit): Promise<unknown> => (await sample.request(path, init)).json();
  const quantity = (method: string, amount: unknown): RequestInit => ({
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ quantity: amount }),
  });

  it('is not oversold by 50 who deduct at once', async () => {
    expect(await json('/inventory/apples', quantity('PUT', 20))).toEqual({ sku: 'apples', stock: 20 });
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async () => (await sample.post('/inventory/apples/deduct')).status),
    );

    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.filter((status) => status === 409)).toHaveLength(30);
    expect(await json('/inventory/apples')).toEqual({ sku: 'apples', stock: 0 });
  });

  it.each([0, -1, 1.5, '1', null])('refuses to deduct %j', async (amount) => {
    expect((await sample.request('/inventory/pears/deduct', quantity('POST', amount))).status).toBe(400);
    expect(await json('/inventory/pears')).toEqual({ sku: 'pears', stock: 20 });
  });

  it.each([
    ['application/x-www-form-urlencoded', '{"quantity":3}'],
    ['application/x-www-form-urlencoded', 'quantity=3'],
    ['text/plain', '3'],
    ['application/json', '{}'],
    ['application/json', '{"amount":3}'],
    ['application/json', '[3]'],
  ])('refuses to guess how many to deduct from %s %s', async (type, body) => {
    const response = await sample.request('/inventory/plums/deduct', {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    });
    expect(response.status).toBe(400);
    expect(await json('/inventory/plums')).toEqual({ sku: 'plums', stock: 20 });
  });

  it('deducts one where there is no body', async () => {
    await sample.request('/inventory/figs/deduct', { method: 'POST' });
    expect(await json('/inventory/figs')).toEqual({ sku: 'figs', stock: 19 });
  });

  it('refuses to guess what a stock is set to', async () => {
    const put = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{ "stock": 3 }' };
    expect((await sample.request('/inventory/pears', put)).status).toBe(400);
    expect((await sample.request('/inventory/pears', { method: 'PUT' })).status).toBe(400);
    expect(await json('/inventory/pears')).toEqual({ sku: 'pears', stock: 20 });
  });

  it('skips the job while another instance is at it', async () => {
    await using held = await sample.locks.acquire('/locks/jobs/sweep');
    expect(await json('/jobs/sweep', { method: 'POST' })).toEqual({ ran: false });
    expect(held.isHeld()).toBe(true);
  });

  it('runs its job once, whoever else wants it at the same tick', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => json('/jobs/sweep', { method: 'POST' })));

    expect(answers.filter((answer) => (answer as { ran: boolean }).ran)).toEqual([{ ran: true, removed: 0 }]);
  });

  it('tells who holds a lock and who waits, by the path that is the key', async () => {
    const key = '/locks/files/a%20b';
    expect(await json(key)).toMatchObject({ key, state: 'FREE', holders: [], queue: [] });

    await using held = await sample.locks.acquire(key, { label: 'the test' });
    const waiting = sample.post('/files/a%20b/append', 'line');
    await untilQueued(sample.locks, key);
    expect(await json(key)).toMatchObject({
      key,
      state: 'HELD',
      holders: [{ mode: 'exclusive', label: 'the test', fencingToken: String(held.fencingToken), pid: process.pid }],
      queue: [{ label: 'FilesController.append' }],
      queueLength: 1,
    });
    await held.release();
    expect((await waiting).status).toBe(200);
  });

  it('streams the state of the connection', async () => {
    await using stream = new EventStream(`${sample.url}/events/connection`);
    await stream.next('the state', ({ type, data }) => type === 'connection' && data['state'] === 'connected');
  });

  it.each(['/events/locks/files/streamed', '/events?key=/locks/files/streamed'])(
    'streams a queue at %s',
    async (path) => {
      await using stream = new EventStream(`${sample.url}${path}`);
      await stream.next('a free lock', ({ type, data }) => type === 'lock' && data['state'] === 'FREE');

      const held = await sample.locks.acquire('/locks/files/streamed');
      await stream.next('a held lock', ({ data }) => data['state'] === 'HELD' && data['queueLength'] === 0);
      const waiting = sample.locks.acquire('/locks/files/streamed');
      await stream.next('a waiter', ({ data }) => data['queueLength'] === 1);
      await held.release();
      await (await waiting).release();
      expect(stream.events.every(({ type }) => type === 'lock' || type === 'connection')).toBe(true);
    },
  );

  it('shows no nodes but those of its own locks', async () => {
    expect((await sample.request('/events?key=/zookeeper/config')).status).toBe(400);
  });

  it('describes its API', async () => {
    const { paths } = (await json('/docs-json')) as { paths: object };

    expect(Object.keys(paths).sort()).toEqual([
      '/events',
      '/events/connection',
      '/events/locks/{key}',
      '/files/{name}',
      '/files/{name}/append',
      '/files/{name}/hold',
      '/health',
      '/inventory/{sku}',
      '/inventory/{sku}/deduct',
      '/jobs/sweep',
      '/ledgers/{ledger}',
      '/ledgers/{ledger}/deposit',
      '/locks/{key}',
      '/operators/break',
      '/operators/clear',
      '/operators/drain',
    ]);
    expect(await (await sample.request('/docs')).text()).toContain('swagger-ui');
  });

  it('describes what each operation does, and every answer that it gives', async () => {
    const { paths } = (await json('/docs-json')) as ApiDescription;
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
    );
    const statuses = Object.fromEntries(
      operations.map(({ name, responses }) => [name, Object.keys(responses).map(Number)]),
    );

    expect(operations.filter(({ summary = '' }) => summary === '')).toEqual([]);
    expect(statuses).toMatchObject({
      'get /files/{name}': [200, 404, 423, 503],
      'put /files/{name}': [200, 400, 409, 423, 503],
      'post /files/{name}/append': [200, 400, 409, 423, 503],
      'post /files/{name}/hold': [200, 400, 423, 503],
      'get /inventory/{sku}': [200, 423, 503],
      'put /inventory/{sku}': [200, 400, 409, 423, 503],
      'post /inventory/{sku}/deduct': [200, 400, 409, 423, 503],
      'post /jobs/sweep': [200, 503],
      'get /ledgers/{ledger}': [200, 423, 503],
      'post /ledgers/{ledger}/deposit': [200, 400, 409, 423, 503],
      'get /locks/{key}': [200, 503],
      'get /health': [200, 503],
    });
    expect(paths['/files/{name}']?.['get']?.responses['200']?.content).toEqual({
      'text/plain': { schema: { type: 'string' } },
    });
  });
});

describe('the health of the sample application', () => {
  it('is up while locks can be had, and 503 afterwards', async () => {
    await using sample = await startSampleApp();
    const up = await sample.request('/health');
    expect(up.status).toBe(200);
    expect(await up.json()).toEqual({ status: 'ok', connection: 'connected', pid: process.pid });

    Object.defineProperty(sample.locks, 'connectionState', { get: () => 'suspended' });
    const down = await sample.request('/health');
    expect(down.status).toBe(503);
    expect(await down.json()).toEqual({ status: 'down', connection: 'suspended' });
  });
});

describe('the shutdown of the sample application', () => {
  it.each([
    [true, 'gone: no later run could use them'],
    [false, 'still there'],
  ])('leaves files that are temporary: %p, %s', async (isDataDirTemporary) => {
    const sample = await startSampleApp({ isDataDirTemporary });
    await sample.post('/files/journal/append', 'line');
    await sample.close();

    expect(existsSync(join(sample.dataDir, encodeURIComponent('files/journal')))).toBe(!isDataDirTemporary);
    await sample[Symbol.asyncDispose]();
  });

  it('does not wait for a connection on which nobody has asked for anything', async () => {
    const sample = await startSampleApp();
    const { port } = new URL(sample.url);
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    // The server has seen the connection when it answers one that came later.
    await sample.request('/health');

    const ended = once(socket, 'close');
    await within(3_000, 'the end of the application', sample[Symbol.asyncDispose]());
    await ended;
  });

  it('does not wait for those who listen', async () => {
    const sample = await startSampleApp();
    const stream = new EventStream(`${sample.url}/events?key=/locks/files/journal`);
    await stream.next('a lock', ({ type }) => type === 'lock');

    await within(3_000, 'the end of the application', sample[Symbol.asyncDispose]());
    await stream.ended;
    expect(stream.events.length).toBeGreaterThan(0);
  });
});
