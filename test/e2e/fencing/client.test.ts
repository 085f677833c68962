import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import axios, { type AxiosInstance } from 'axios';
import { fencedFetch, fencingHeaders, fencingInterceptor } from '../../../lib/fencing/http/fencing-client.js';
import { SigningKeys, VerificationKeys } from '../../../lib/fencing/signed/keys.js';
import { LockTesting, provideLockTesting } from '../../../lib/extras/testing/index.js';
import {
  createLockService,
  currentLock,
  LockConfigurationError,
  type LockHandle,
  LockLostError,
  LockService,
} from '../../../lib/index.js';
import { within } from '../../support/process/eventually.js';
import { memory } from '../support/application.js';
import { type DocumentsService, sharedMarks, startDocumentsService } from './support/documents-service.js';
import { startServer } from './support/told-server.js';
import { telling } from '../../support/telling.js';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const keys = new SigningKeys({ issuer: 'orders', current: { id: 'e', algorithm: 'Ed25519', privateKey } });
const verifying = new VerificationKeys([{ id: 'e', algorithm: 'Ed25519', publicKey, issuer: 'orders' }]);

const KEY = '/locks/documents/a';

/** One way to send a request under a lock. */
interface Client {
  put(url: string, lock?: LockHandle, signal?: AbortSignal): Promise<number>;
}

const withFetch: Client = {
  async put(url, lock, signal) {
    const response = await fencedFetch(lock, { keys })(url, {
      method: 'PUT',
      body: '{"text":"text"}',
      headers: { 'content-type': 'application/json' },
      signal: signal ?? null,
    });
    return response.status;
  },
};

function axiosFor(lock?: LockHandle): AxiosInstance {
  const instance = axios.create({ validateStatus: () => true });
  instance.interceptors.request.use(fencingInterceptor(lock, { keys }));
  return instance;
}

const withAxios: Client = {
  async put(url, lock, signal) {
    const config = signal === undefined ? {} : { signal };
    return (await axiosFor(lock).put(url, { text: 'text' }, config)).status;
  },
};

describe.each([
  ['fencedFetch', withFetch],
  ['fencingInterceptor', withAxios],
])('%s', (name, client) => {
  let caller: TestingModule;
  let locks: LockService;
  let testing: LockTesting;

  beforeEach(async () => {
    caller = await Test.createTestingModule({ providers: provideLockTesting() }).compile();
    caller.useLogger(false);
    await caller.init();
    locks = caller.get(LockService);
    testing = caller.get(LockTesting);
  });
  afterEach(() => caller.close());

  it('shows the token of the lock around the caller, or of the one it is given', async () => {
    await using marks = await sharedMarks();
    await using service = await startDocumentsService({ marks: await marks.open(), keys: verifying });
    const url = `${service.url}/documents/a`;

    const token = await locks.withLock(KEY, async (lock) => {
      expect(await client.put(url)).toBe(200);
      return lock.fencingToken;
    });
    await using lock = await locks.acquire(KEY);
    expect(await client.put(url, lock)).toBe(200);
    expect(service.saved.map((saved) => saved.token)).toEqual([token, lock.fencingToken]);
  });

  it('shows a token that counts at another instance: the one before comes too late there', async () => {
    await using marks = await sharedMarks();
    await using one = await startDocumentsService({ marks: await marks.open(), keys: verifying });
    await using other = await startDocumentsService({ marks: await marks.open(), keys: verifying });
    const before = await locks.withLock(KEY, (lock) => fencingHeaders(lock, keys));
    const url = (service: DocumentsService): string => `${service.url}/documents/a`;

    expect(await locks.withLock(KEY, () => client.put(url(one)))).toBe(200);
    expect(await other.put('a', before)).toMatchObject({ status: 409, body: { code: 'STALE_FENCING_TOKEN' } });
    expect(await locks.withLock('/locks/documents/b', () => client.put(url(other)))).toBe(403);
  });

  it('takes the innermost lock that gives a right to write', async () => {
    await using marks = await sharedMarks();
    await using service = await startDocumentsService({ marks: await marks.open(), keys: verifying });
    const put = (): Promise<number> => client.put(`${service.url}/documents/a`);

    await locks.withLock('/outer', () =>
      locks.withLock(KEY, () => locks.withLock('/inner', async () => expect(await put()).toBe(200), { mode: 'read' })),
    );
  });

  it('sends nothing where there is no lock, or none that gives a right to write', async () => {
    await using server = await startServer('is silent');
    const lonely = client.put(server.url);
    await expect(lonely).rejects.toThrow(LockConfigurationError);
    await expect(lonely).rejects.toThrow(`${name}: there is no lock around the caller`);
    const reading = locks.withLock(KEY, () => client.put(server.url), { mode: 'read' });
    await expect(reading).rejects.toThrow(telling(`${name}: ${KEY} is held as read, which gives no right to write`));
    const released = await locks.acquire(KEY);
    await released.release();
    await expect(within(5_000, 'an answer', client.put(server.url, released))).rejects.toThrow(LockLostError);
    expect(server.paths).toEqual([]);
  });

  it('waits while the lock is suspended, and sends when it is sure again', async () => {
    await using server = await startServer('answers');
    await using lock = await locks.acquire(KEY);
    await testing.suspend();
    const sent = client.put(`${server.url}fenced`, lock);
    // Other requests go all the way meanwhile, one after the other.
    for (let times = 0; times < 5; times++) await fetch(`${server.url}other`);
    expect(new Set(server.paths)).toEqual(new Set(['/other']));

    await testing.resume();
    expect(await sent).toBe(200);
    expect(server.paths).toContain('/fenced');
  });

  it('gives up when the caller does, also while it waits', async () => {
    await using server = await startServer('is silent');
    await using lock = await locks.acquire(KEY);
    const leaving = new AbortController();
    const sent = client.put(server.url, lock, leaving.signal);
    await server.asked;
    leaving.abort(new Error('enough'));
    await expect(within(5_000, 'an end', sent)).rejects.toThrow(/enough|canceled/);
    await server.gone;

    await testing.suspend();
    const waiting = new AbortController();
    const unsent = client.put(server.url, lock, waiting.signal);
    waiting.abort(new Error('enough of that'));
    await expect(within(5_000, 'an end', unsent)).rejects.toThrow('enough of that');
    const late = client.put(server.url, lock, AbortSignal.abort(new Error('before it began')));
    await expect(within(5_000, 'an end', late)).rejects.toThrow('before it began');
    expect(server.paths).toHaveLength(1);
    await testing.resume();
  });

  it.each([
    ['ends', undefined],
    ["ends, with a signal of the caller's beside it,", new AbortController().signal],
  ])('%s the request when the lock is lost', async (_what, signal) => {
    await using server = await startServer('is silent');
    await using lock = await locks.acquire(KEY);
    const sent = client.put(server.url, lock, signal);
    await server.asked;
    await testing.lose(KEY);

    await expect(within(5_000, 'an end', sent)).rejects.toMatchObject(
      name === 'fencedFetch' ? { code: 'LOCK_LOST' } : { code: 'ERR_CANCELED' },
    );
    expect(lock.signal.reason).toBeInstanceOf(LockLostError);
    await server.gone;
  });
});

describe('fencedFetch', () => {
  it('keeps what the caller says in a Request, or beside it', async () => {
    await using marks = await sharedMarks();
    await using service = await startDocumentsService({ marks: await marks.open() });
    await using locks = await createLockService({ connect: memory() });
    const seen: Headers[] = [];
    const send: typeof globalThis.fetch = (input, init) => {
      seen.push(new Headers(init?.headers));
      return fetch(input, init);
    };
    await locks.withLock(KEY, async (lock) => {
      const request = new Request(`${service.url}/documents/a`, {
        method: 'PUT',
        body: '{"text":"of the request"}',
        headers: { 'content-type': 'application/json', 'x-trace': 't', 'fencing-token': '1' },
      });
      expect((await fencedFetch(lock, { fetch: send })(request)).status).toBe(200);
      expect(currentLock()).toBe(lock);
    });

    expect(service.saved).toMatchObject([{ text: 'of the request' }]);
    expect(seen[0]?.get('x-trace')).toBe('t');
    expect(seen[0]?.get('fencing-token')).toBe(String(service.saved[0]?.token));
  });
});

describe('fencingInterceptor', () => {
  it("goes on to heed a signal that is not the platform's, as old versions of axios took", async () => {
    await using server = await startServer('is silent');
    await using locks = await createLockService({ connect: memory() });
    let abort!: () => void;
    const signal = {
      aborted: false,
      addEventListener: (_type: 'abort', listener: () => void) => void (abort = listener),
    };
    await locks.withLock(KEY, async () => {
      const sent = axiosFor().get(server.url, { signal });
      await server.asked;
      abort();
      await expect(within(5_000, 'an end', sent)).rejects.toMatchObject({ code: 'ERR_CANCELED' });
    });
  });
});
