import type { LockLostError, LossEvidence } from '../../lock/errors.js';
import type { LossReason } from '../../lock/events.js';
import type { Intervention } from '../../queue/intervention.js';
import type { Session } from '../../session/session.js';
import { brokenError, lossError, lossEvidence, type UntoldLoss } from '../error-texts.js';
import type { HoldParts } from './hold-parts.js';
import type { Hold } from './hold.js';

/** Why a lock is lost. An intervention says that somebody has broken it. */
export type WhyLost = UntoldLoss | Intervention;

/** What is told of a loss, in its event and to the holder. */
export interface Loss {
  readonly reason: LossReason;
  readonly heldMs: number;
  readonly error: LockLostError;
  readonly evidence: LossEvidence;
}

export function lossOf({ session, link }: HoldParts, { request, ageMs, contender }: Hold, why: WhyLost): Loss {
  const heldMs = Math.round(ageMs);
  const evidence = lossEvidence(session, link.downMs, contender.session.timeoutMs);
  if (typeof why === 'object')
    return { reason: 'broken', heldMs, evidence, error: brokenError(request.key, heldMs, evidence, why) };
  const error = lossError(why, request.key, heldMs, evidence, session.heartbeatRefusal);
  return { reason: why, heldMs, evidence, error };
}

/** Why a lock that nobody has called lost is not held at this moment; undefined where it is. */
export function doubtOf(
  session: Session,
  { contender, heldSince }: Hold,
  leaseEndsAt = Infinity,
): UntoldLoss | undefined {
  if (session.identity !== contender.session) return 'session-ended';
  const now = session.clock.now();
  // Certainty that began after the hold had a gap before it. The gap was a loss, even if the session has survived it.
  if (now >= session.certainUntil() || session.certainSince() > heldSince) return 'uncertain';
  return now >= leaseEndsAt ? 'lease-ended' : undefined;
}
