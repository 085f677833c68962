import { once } from 'node:events';
import { currentLock } from '../../engine/bounds/owner-context.js';
import { LockConfigurationError } from '../../lock/errors.js';
import type { LockHandle } from '../../lock/handle.js';
import { covers } from '../../lock/mode.js';
import { FENCING_TOKEN_HEADER } from '../errors.js';
import { assertMayWrite } from '../refusals.js';
import type { SigningKeys } from '../signed/keys.js';
import { signToken } from '../signed/signed-token.js';

type Fetch = typeof globalThis.fetch;

export interface FencingClientOptions {
  /** Signs the tokens, for services that verify them. @default the token in digits */
  readonly keys?: SigningKeys;
}

export interface FencedFetchOptions extends FencingClientOptions {
  /** What sends the requests. @default the `fetch` of Node */
  readonly fetch?: Fetch;
}

/** What of a request of `axios` is needed; its own types fit. */
export interface InterceptedRequest {
  readonly headers: { set(name: string, value: string): unknown };
  signal?: unknown;
}

/** What `axios` takes for a signal besides an `AbortSignal`. */
interface SignalLike {
  readonly aborted: boolean;
  addEventListener?(type: 'abort', listener: () => void): void;
}

/**
 * A `fetch` that shows the lock's fencing token to the service it calls. It waits while the lock is suspended, and aborts
 * the request with the `LockLostError` when the lock is lost; the caller's own signal goes on to count.
 *
 * @param lock whose token; without it, at each call, the innermost lock around the caller that gives a right to write
 * @throws LockConfigurationError, at the call and before anything is sent, where there is no such lock
 */
export function fencedFetch(lock?: LockHandle, { keys, fetch }: FencedFetchOptions = {}): Fetch {
  return async (input, init) => {
    const request = input instanceof Request ? input : undefined;
    const { token, signal } = await fenceOf('fencedFetch', lock, keys, init?.signal ?? request?.signal);
    const headers = new Headers(init?.headers ?? request?.headers);
    headers.set(FENCING_TOKEN_HEADER, token);
    return (fetch ?? globalThis.fetch)(input, { ...init, headers, signal });
  };
}

/**
 * `axios.interceptors.request.use(fencingInterceptor())`, or `httpService.axiosRef.interceptors...` of `@nestjs/axios`: shows
 * the lock's fencing token in every request, as `fencedFetch` does. When the lock is lost, axios rejects with its own
 * CanceledError, and `lock.signal.reason` says why.
 *
 * @param lock whose token; without it, at each request, the innermost lock around the caller that gives a right to write
 */
export function fencingInterceptor(
  lock?: LockHandle,
  { keys }: FencingClientOptions = {},
): <Config extends InterceptedRequest>(config: Config) => Promise<Config> {
  return async (config) => {
    const request: InterceptedRequest = config;
    const { token, signal } = await fenceOf('fencingInterceptor', lock, keys, asAbortSignal(request.signal));
    request.headers.set(FENCING_TOKEN_HEADER, token);
    request.signal = signal;
    return config;
  };
}

/**
 * The header that shows a lock's fencing token to another service, signed where keys are given. For clients that
 * `fencedFetch` and `fencingInterceptor` do not serve: await `lock.whenSure()` before, and hand on `lock.signal`.
 *
 * @throws LockConfigurationError for a lock that gives no right to write
 */
export function fencingHeaders(lock: LockHandle, keys?: SigningKeys): { readonly 'Fencing-Token': string } {
  return { [FENCING_TOKEN_HEADER]: tokenOf(writingLock(lock, 'fencingHeaders'), keys) };
}

/** What a request shows, once the lock is sure, and the signal that ends it. */
async function fenceOf(
  by: string,
  given: LockHandle | undefined,
  keys: SigningKeys | undefined,
  callers: AbortSignal | undefined,
): Promise<{ readonly token: string; readonly signal: AbortSignal }> {
  const lock = writingLock(given, by);
  await untilSure(lock, callers);
  const signal = callers === undefined ? lock.signal : AbortSignal.any([lock.signal, callers]);
  return { token: tokenOf(lock, keys), signal };
}

function tokenOf(lock: LockHandle, keys: SigningKeys | undefined): string {
  return keys === undefined ? String(lock.fencingToken) : signToken(lock, keys);
}

/**
 * The lock whose token a request shall show: the one given, or the innermost around the caller that gives a right to write.
 * @throws LockConfigurationError where there is none, before anything is sent
 */
function writingLock(given: LockHandle | undefined, by: string): LockHandle {
  const lock = given ?? currentLock(({ mode }) => covers(mode, 'write')) ?? currentLock();
  if (lock === undefined) {
    throw new LockConfigurationError(
      `${by}: there is no lock around the caller, so no fencing token to send. Call it inside @Locked or withLock, or give it a handle`,
    );
  }
  assertMayWrite(lock, { by });
  return lock;
}

/** Settles as `lock.whenSure()` does, or rejects with the caller's own reason when the caller gives up before. */
async function untilSure(lock: LockHandle, giveUp: AbortSignal | undefined): Promise<void> {
  if (giveUp === undefined) return lock.whenSure();
  giveUp.throwIfAborted();
  // The caller may keep its signal for long: the listener is taken off when the wait ends.
  const ended = new AbortController();
  const givenUp = once(giveUp, 'abort', { signal: ended.signal }).then(() => giveUp.throwIfAborted());
  try {
    await Promise.race([lock.whenSure(), givenUp]);
  } finally {
    ended.abort();
  }
}

function asAbortSignal(signal: unknown): AbortSignal | undefined {
  if (signal === undefined || signal === null || signal instanceof AbortSignal) return signal ?? undefined;
  const like = signal as SignalLike;
  const controller = new AbortController();
  if (like.aborted) controller.abort();
  like.addEventListener?.('abort', () => controller.abort());
  return controller.signal;
}
