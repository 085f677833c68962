import type { LockHandle } from '../../lock/handle.js';
import type { FencingClientOptions } from './fenced-fetch.js';
import { fencingHeaders } from './fencing-headers.js';
import { untilSure, writingLock } from './writing-lock.js';

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
    const shown = writingLock(lock, 'fencingInterceptor');
    const request: InterceptedRequest = config;
    const callers = asAbortSignal(request.signal);
    await untilSure(shown, callers);
    for (const [name, value] of Object.entries(fencingHeaders(shown, keys))) request.headers.set(name, value);
    request.signal = callers === undefined ? shown.signal : AbortSignal.any([shown.signal, callers]);
    return config;
  };
}

function asAbortSignal(signal: unknown): AbortSignal | undefined {
  if (signal === undefined || signal === null || signal instanceof AbortSignal) return signal ?? undefined;
  const like = signal as SignalLike;
  const controller = new AbortController();
  if (like.aborted) controller.abort();
  like.addEventListener?.('abort', () => controller.abort());
  return controller.signal;
}
