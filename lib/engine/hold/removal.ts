import { answerWithinMs } from '../../lock/deadline.js';
import type { MultiPart } from '../../session/requests.js';
import type { Contender, Leaving } from '../contender.js';
import type { OwnNode } from '../own-node.js';
import type { HoldParts } from './hold-parts.js';

const NOTHING: readonly MultiPart[] = [];

/** What an orderly release does besides removing the node. */
export function orderlyRelease({ session }: HoldParts, contender: Contender): readonly MultiPart[] {
  // Without transactions no mark can go with the removal, and a refused one would only hold the removal up.
  if (!session.hasMultis) return NOTHING;
  const { releaseMarks, record } = contender;
  return record === undefined ? releaseMarks : [...releaseMarks, ...record.release()];
}

/**
 * Removes the nodes of a hold, with `also` in the same transaction. Resolves when the servers have confirmed that, or as soon as the
 * link is down, and within the module's `waitMs` (the time of one answer where that is 0).
 */
export function removeNodes(
  { janitor, timers, link, session, waitMs }: HoldParts,
  { contender, intent }: { readonly contender: Contender; readonly intent: OwnNode | undefined },
  leaving: Leaving,
  also: readonly MultiPart[],
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
