/** How much sooner than the servers' own count certainty ends here, since clocks do not run alike. */
export function certaintyMarginMs(timeoutMs: number): number {
  return Math.max(50, timeoutMs / 50);
}

/**
 * A server grants this many ticks at the least. So this is what stays certain of a session that was offered to a silent
 * server.
 */
export const MIN_SESSION_TICKS = 2;
