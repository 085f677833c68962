import { LockConfigurationError } from '../lock/errors.js';

/** How much sooner than the servers' own count certainty ends here, since clocks do not run alike. */
export function certaintyMarginMs(timeoutMs: number): number {
  return Math.max(50, timeoutMs / 50);
}

/**
 * A server grants this many ticks at the least. So this is what stays certain of a session that was offered to a silent
 * server.
 */
export const MIN_SESSION_TICKS = 2;

/**
 * One margin lies between the signal of a loss and the end of certainty, one is for the write that renews, one for
 * clocks that differ.
 */
const MARGINS = 3;

/**
 * Says why no lock could be held with the time-out that the servers granted. @returns undefined when locks can be held
 */
export function uselessTimeout(grantedMs: number, tickMs: number): LockConfigurationError | undefined {
  const granted = `sessionTimeoutMs: the servers granted ${grantedMs} ms`;
  if (grantedMs < MIN_SESSION_TICKS * tickMs) {
    return new LockConfigurationError(
      `${granted}, less than two of their ticks (serverTickMs: ${tickMs} ms). ` +
        "Raise the servers' maxSessionTimeout, or set serverTickMs to their real tickTime",
    );
  }
  const marginsMs = MARGINS * certaintyMarginMs(grantedMs);
  if (grantedMs - tickMs > marginsMs) return undefined;
  return new LockConfigurationError(
    `${granted}, and serverTickMs is ${tickMs} ms: less a tick and the margins of ${marginsMs} ms no time is left in which a ` +
      `lock could be certain. Set sessionTimeoutMs to four ticks or more, and to ${2 * (tickMs + marginsMs)} ms at the least; ` +
      "the servers' maxSessionTimeout must allow it",
  );
}
