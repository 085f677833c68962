import { beginHold, endHold } from '../traces.js';
import type { HoldParts } from './hold-parts.js';
import type { Hold } from './hold.js';

/** Tells those who listen to holds of this one. It is called in the async context of the call that has acquired the lock. */
export function traceHold({ connection, scope }: Pick<HoldParts, 'connection' | 'scope'>, hold: Hold): void {
  const { request } = hold;
  const message = beginHold(connection, request, () => {
    const { mode, heldSince, tokenText: token } = hold;
    return { scope, token, mode, waitedMs: heldSince - request.askedAt };
  });
  if (message === undefined) return;
  // A hold that was lost in the turns of promises before its caller heard of it calls back at once.
  hold.onEnd((error) => {
    const { mode, ageMs: heldMs, lossReason: reason, isLost } = hold;
    const ended = isLost
      ? ({ outcome: 'lost', error: error() } as const)
      : ({ outcome: 'released', error: undefined } as const);
    endHold(message, { mode, heldMs, reason, ...ended });
  });
}
