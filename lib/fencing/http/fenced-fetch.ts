import type { LockHandle } from '../../lock/handle.js';
import type { SigningKeys } from '../signed/keys.js';
import { fencingHeaders } from './fencing-headers.js';
import { untilSure, writingLock } from './writing-lock.js';

type Fetch = typeof globalThis.fetch;

export interface FencingClientOptions {
  /** Signs the tokens, for services that verify them. @default the token in digits */
  readonly keys?: SigningKeys;
}

export interface FencedFetchOptions extends FencingClientOptions {
  /** What sends the requests. @default the `fetch` of Node */
  readonly fetch?: Fetch;
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
    const shown = writingLock(lock, 'fencedFetch');
    const request = input instanceof Request ? input : undefined;
    const callers = init?.signal ?? request?.signal;
    await untilSure(shown, callers);
    const headers = new Headers(init?.headers ?? request?.headers);
    for (const [name, value] of Object.entries(fencingHeaders(shown, keys))) headers.set(name, value);
    const signal = callers === undefined ? shown.signal : AbortSignal.any([shown.signal, callers]);
    return (fetch ?? globalThis.fetch)(input, { ...init, headers, signal });
  };
}
