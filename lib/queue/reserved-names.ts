import { DRAIN_MARKER } from './intervention.js';

/**
 * The child that keeps the container of a key from being reaped, once its data must outlive its contenders. Curator sorts names that it
 * does not know as texts, and would wait for one in front of the numbers: a tilde comes behind them.
 */
export const RECORD_KEEPER = '~record';
/** Below the root of a namespace: what is kept of holds that have ended. */
export const HISTORY_ROOT = '~history';
/** Below the root of a namespace: the nodes of the sessions' heartbeats. */
export const SESSIONS_ROOT = '.sessions';

const RESERVED: readonly string[] = [SESSIONS_ROOT, HISTORY_ROOT, RECORD_KEEPER, DRAIN_MARKER];

/** Whether no key may have such a segment, because this package gives the name to nodes of its own that are no contenders. */
export function isReservedName(name: string): boolean {
  return RESERVED.includes(name);
}
