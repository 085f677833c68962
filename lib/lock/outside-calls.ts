import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Runs `work` in the async context in which this module was loaded, which is that of no call. A session, its sockets and
 * timers, and whatever else outlives the call that happens to make it, would otherwise keep what that call has in any
 * `AsyncLocalStorage` of the application (its request, its user), and run the calls of others as a part of it.
 */
export const outsideCalls: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();
