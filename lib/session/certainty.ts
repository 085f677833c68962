/** How much earlier than the servers' own arithmetic ours ends, for clocks that do not run alike. */
export function certaintyMarginMs(timeoutMs: number): number {
  return Math.max(50, timeoutMs / 50);
}
