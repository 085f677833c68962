import { readdir } from 'node:fs/promises';
import { Logger } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { FencedFileStore } from '../../../lib/fencing/file-store/fenced-file-store.js';
import { LockHandle } from '../../../lib/lock/handle.js';
import { eventually } from '../../support/process/eventually.js';
import { untilQueued } from '../support/queue.js';
import { type SampleApp, startSampleApp } from './support/start-sample-app.js';

describe('the files of the sample application', () => {
  let sample: SampleApp;

  beforeAll(async () => {
    sample = await startSampleApp();
  });
  afterAll(() => sample[Symbol.asyncDispose]());

  const put = (name: string, text: string): Promise<Response> =>
    sample.request(`/files/${name}`, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: text });
  const read = async (name: string): Promise<string> => (await sample.request(`/files/${name}`)).text();

  it('are written, appended to and read', async () => {
    expect((await put('notes', 'one\n')).status).toBe(200);
    const appended = await sample.post('/files/notes/append', 'two');

    expect(appended.status).toBe(200);
    expect(await appended.json()).toEqual({
      name: 'notes',
      fencingToken: expect.stringMatching(/^\d+$/),
      pid: process.pid,
    });
    expect(await read('notes')).toBe('one\ntwo\n');
  });

  it('lose no line of many who append at once, and have them in the order of the tokens', async () => {
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);
    const tokens = await Promise.all(
      lines.map(async (line) => {
        const response = await sample.post('/files/crowded/append', line);
        return { line, token: BigInt(((await response.json()) as { fencingToken: string }).fencingToken) };
      }),
    );
    const byToken = tokens.sort((left, right) => (left.token < right.token ? -1 : 1)).map(({ line }) => line);

    expect((await read('crowded')).trimEnd().split('\n')).toEqual(byToken);
  });

  it('are not there before somebody writes them, and that is nothing to warn of', async () => {
    const warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    try {
      const response = await sample.request('/files/unknown');
      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toMatch('application/json');
      expect(warned).not.toHaveBeenCalled();
    } finally {
      warned.mockRestore();
    }
  });

  it('are sent as plain text', async () => {
    await put('plain', 'text');
    expect((await sample.request('/files/plain')).headers.get('content-type')).toBe('text/plain; charset=utf-8');
  });

  it('are read by several at once, and by nobody while one writes', async () => {
    await put('shared', 'text');
    const reader = await sample.locks.acquire('/locks/files/shared', { mode: 'read' });
    expect(await read('shared')).toBe('text');
    await reader.release();

    const writer = await sample.locks.acquire('/locks/files/shared');
    const reading = read('shared');
    await untilQueued(sample.locks, '/locks/files/shared');
    await writer.release();
    expect(await reading).toBe('text');
  });

  it('refuse a stale token with 409, and stay as they are', async () => {
    await sample.get(FencedFileStore).write('files/fenced', 'from a later holder', 2n ** 62n);

    const response = await put('fenced', 'from a stale holder');
    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({ code: 'STALE_FENCING_TOKEN' });
    expect(await read('fenced')).toBe('from a later holder');
  });

  it.each(['..', '.', '../../escape', '/etc/escape', '..\\escape'])(
    'stay in their folder, also when one is called %j',
    async (name) => {
      const response = await put(encodeURIComponent(name).replaceAll('.', '%2E'), 'text');
      // `fetch` itself takes dots out of a path.
      if (name !== '..' && name !== '.') expect(response.status).toBe(200);
      await sample.get(FencedFileStore).write(`files/${name}`, 'text', 2n ** 61n);

      const folders = await readdir(sample.dataDir);
      expect(folders).toContain(encodeURIComponent(`files/${name}`));
      expect(folders.filter((folder) => !/^(files|inventory|jobs)%2F/.test(folder))).toEqual([]);
    },
  );

  it('have long names in any script; what is no name is refused with 400', async () => {
    const name = 'Журнал'.repeat(20);
    expect((await put(encodeURIComponent(name), 'text')).status).toBe(200);
    expect(await read(encodeURIComponent(name))).toBe('text');
    expect((await put(encodeURIComponent('a\u0000b'), 'text')).status).toBe(400);
  });

  it.each([undefined, 'application/xml', 'application/octet-stream'])('take what is said to be %p', async (type) => {
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    const response = await sample.request('/files/any', { method: 'PUT', headers, body: Buffer.from(`as ${type}`) });
    expect(response.status).toBe(200);
    expect(await read('any')).toBe(`as ${type}`);
  });

  it('take UTF-8 as it is, and refuse other bytes with 400: they would be read as something else', async () => {
    const text = '\ufeffÆgir, 海, 🌊\r\n';
    await put('bytes', text);
    const raw = await (await sample.request('/files/bytes')).arrayBuffer();
    expect(Buffer.from(raw).toString()).toBe(text);

    for (const [path, method] of [['', 'PUT'] as const, ['/append', 'POST'] as const]) {
      const response = await sample.request(`/files/bytes${path}`, { method, body: Buffer.from([0x61, 0xff, 0x62]) });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ message: expect.stringContaining('UTF-8') });
    }
    expect(await read('bytes')).toBe(text.slice(1));
  });

  it('take text, and refuse other things with 400', async () => {
    const response = await sample.request('/files/typed', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(response.status).toBe(400);
  });
});

describe('what the sample application changes', () => {
  it.each<[string, 'write' | 'append' | 'update', 'PUT' | 'POST', string]>([
    ['/files/a', 'write', 'PUT', 'text'],
    ['/files/a/append', 'append', 'POST', 'text'],
    ['/inventory/a', 'write', 'PUT', '{ "quantity": 1 }'],
    ['/inventory/a/deduct', 'update', 'POST', '{ "quantity": 1 }'],
  ])(
    'is fenced at %s by the lock itself, so that it waits while the lock is in doubt',
    async (path, by, method, body) => {
      await using sample = await startSampleApp();
      const changed = jest.spyOn(sample.get(FencedFileStore), by);
      const headers = { 'content-type': body === 'text' ? 'text/plain' : 'application/json' };
      expect((await sample.request(path, { method, headers, body })).ok).toBe(true);

      expect(changed).toHaveBeenCalledTimes(1);
      expect(changed.mock.calls[0]).toContainEqual(expect.any(LockHandle));
    },
  );
});

describe('a file that somebody holds', () => {
  it('is busy: 423 after the wait, and its holder is not disturbed', async () => {
    await using sample = await startSampleApp({ waitMs: 300 });
    const holding = sample.post('/files/journal/hold?seconds=4');
    await eventually('the file is held', async () => {
      const { state } = await sample.locks.inspect('/locks/files/journal');
      return state === 'HELD';
    });

    const response = await sample.post('/files/journal/append', 'too late');
    expect(response.status).toBe(423);
    expect(await response.json()).toMatchObject({ statusCode: 423, code: 'LOCK_TIMEOUT' });
    expect((await holding).status).toBe(200);
  });

  it.each(['0', '31', 'x'])('is not held for %s seconds', async (seconds) => {
    await using sample = await startSampleApp();
    expect((await sample.post(`/files/journal/hold?seconds=${seconds}`)).status).toBe(400);
  });
});
