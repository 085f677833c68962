import { answerWithinMs } from '../../lock/deadline.js';
import type { LockLostError, LossEvidence } from '../../lock/errors.js';
import type { LossReason } from '../../lock/events.js';
import type { Intervention } from '../../queue/intervention.js';
import { isUp } from '../../session/connection-state.js';
import type { MultiPart } from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import { IndexedSet } from '../collections.js';
import type { Contender, Leaving } from '../contender.js';
import { brokenError, lossError, lossEvidence, type UntoldLoss } from '../error-texts.js';
import type { OwnNode } from '../own-node.js';
import type { ChangesAfterLook } from '../record-entry.js';
import type { LinkState } from '../upkeep/link-state.js';
import type { HoldParts } from './hold-parts.js';
import type { Hold } from './hold.js';

/** The reason why a lock is lost. An intervention says that somebody has broken it. */
export type WhyLost = UntoldLoss | Intervention;

/** The facts of a loss that its event and its holder are told. */
export interface Loss {
  readonly reason: LossReason;
  readonly heldMs: number;
  readonly error: LockLostError;
  readonly evidence: LossEvidence;
}

export function lossOf({ session, link }: HoldParts, { request, ageMs, contender }: Hold, why: WhyLost): Loss {
  const heldMs = Math.round(ageMs);
  const evidence = lossEvidence(session, link.downMs, contender.session.timeoutMs);
  const lost = { key: request.key, heldMs, evidence };
  if (typeof why === 'object') return { reason: 'broken', heldMs, evidence, error: brokenError(lost, why) };
  const error = lossError(why, lost, session.heartbeatRefusal);
  return { reason: why, heldMs, evidence, error };
}

/** Says why a lock that nobody has called lost is not held at this moment; undefined where it is held. */
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

/**
 * The holds that somebody has broken, and whose work has not ended: it puts right what is half done. They hold nothing any more, but
 * their nodes stay, and keep others out meanwhile.
 */
export class BrokenHolds extends IndexedSet<Hold> {
  constructor(session: Session, link: LinkState) {
    super();
    link.onChange('holders', (state) => {
      for (const hold of this.all()) {
        // The node has ended with its session, or is a leftover of one that was given up.
        if (hold.contender.session !== session.identity) void hold.endBroken('lost');
        // Contenders of this process stand behind the node, so its removal by force must be told here, too.
        else if (isUp(state)) hold.watchOwn();
      }
    });
  }

  /** The lock service is closed: the nodes keep nobody out any more. */
  endAll(): void {
    for (const hold of this.all()) void hold.endBroken('lost');
  }
}

const NOTHING: readonly MultiPart[] = [];

/** Makes the changes that go with an orderly release, besides removing the node. */
export function orderlyRelease(
  { session }: HoldParts,
  { contender, mode }: Hold,
): readonly MultiPart[] | ChangesAfterLook {
  // Without transactions no mark can go with the removal, and a refused one would only hold the removal up.
  if (!session.hasMultis) return NOTHING;
  const { releaseMarks, record } = contender;
  if (record === undefined) return releaseMarks;
  // An upgrade that has not succeeded has written the entry, and nobody may find it there once the node of the upgrader is gone.
  const changes = mode === 'upgradeable' ? record.undo() : record.release();
  if (!('path' in changes)) return [...releaseMarks, ...changes];
  return { path: changes.path, changesTo: (found) => [...releaseMarks, ...changes.changesTo(found)] };
}

/**
 * Removes the nodes of a hold, with `also` in the same transaction. Resolves when the servers have confirmed that, or as soon as the
 * link is down, and within the module's `waitMs` (the time of one answer where that is 0).
 */
export function removeNodes(
  { janitor, timers, link, session, waitMs }: HoldParts,
  { contender, intent }: { readonly contender: Contender; readonly intent: OwnNode | undefined },
  leaving: Leaving,
  also: readonly MultiPart[] | ChangesAfterLook,
): Promise<void> {
  const { path } = contender;
  const paths = intent === undefined ? [path] : [intent.path, path];
  intent?.forget();
  // The contender leaves its queue here, in this turn: the next one of this process may enter before the servers answer.
  const { done, forget } = janitor.remove(paths, also, contender.leave(leaving));
  return new Promise((resolve) => {
    // Only the wait is bounded. The janitor goes on with the removal for as long as it takes.
    const end = (): void => {
      timer.cancel();
      stopListening();
      forget();
      resolve();
    };
    const timer = timers.setAwaited(session.clock.now() + answerWithinMs(waitMs), end);
    const stopListening = link.onChange('calls', () => {
      if (!link.isUp) end();
    });
    if (link.isUp) void done.then(end);
    else end();
  });
}
