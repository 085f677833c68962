/** How much earlier than the servers' own arithmetic ours ends, for clocks that do not run alike. */
export function certaintyMarginMs(timeoutMs: number): number {
  return Math.max(50, timeoutMs / 50);
}

/** The least that a server grants, and so all that is certain of a session which one was offered and did not answer. */
export const MIN_SESSION_TICKS = 2;
