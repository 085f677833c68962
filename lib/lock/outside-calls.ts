import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Runs `work` in the async context in which this module was loaded, which belongs to no call. A session, its sockets
 * and its timers outlive the call that happens to create them. They would otherwise keep that call's values in every
 * `AsyncLocalStorage` of the application (its request, its user), and run the calls of others under them.
 */
export const outsideCalls: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();
