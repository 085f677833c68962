import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { formOf } from '../../../../lib/extras/dashboard/form.js';
import { isFromOwnPage } from '../../../../lib/extras/dashboard/same-origin.js';

describe('A form of the dashboard', () => {
  it.each([
    [{ 'sec-fetch-site': 'same-origin' }],
    [{ 'sec-fetch-site': 'same-origin', origin: 'null', host: 'ops:3000' }],
    [{ origin: 'http://ops:3000', host: 'ops:3000' }],
    [{ origin: 'https://ops', host: 'ops' }],
  ])('is known for its own by %j', (headers) => {
    expect(isFromOwnPage(headers)).toBe(true);
  });

  it.each([
    [{ 'sec-fetch-site': 'cross-site', origin: 'http://ops:3000', host: 'ops:3000' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ 'sec-fetch-site': 'none' }],
    [{ origin: 'https://elsewhere.example', host: 'ops:3000' }],
    [{ origin: 'http://ops:3001', host: 'ops:3000' }],
    [{ origin: 'null', host: 'ops:3000' }],
    [{ origin: 'http://ops:3000' }],
    [{ host: 'ops:3000' }],
  ])('is not taken for its own with %j', (headers) => {
    expect(isFromOwnPage(headers)).toBe(false);
  });

  it('is read however the application parses bodies, or does not', async () => {
    const text = 'reason=stuck+since+noon&grace=10';
    const stream = (): Readable => Readable.from([Buffer.from(text.slice(0, 9)), Buffer.from(text.slice(9))]);
    for (const request of [
      { body: { reason: 'stuck since noon', grace: '10', nested: { a: 1 } } },
      { body: Buffer.from(text) },
      { body: text },
      stream() as object,
      { raw: stream(), body: undefined },
      { raw: stream(), body: {} },
    ]) {
      const form = await formOf(request);
      expect([form.get('reason'), form.get('grace'), form.get('nested')]).toEqual(['stuck since noon', '10', null]);
    }
  });

  it('is empty where it is too long to be one', async () => {
    expect([...(await formOf({ raw: Readable.from([Buffer.alloc(20_000, 'a')]) }))]).toEqual([]);
  });
});
