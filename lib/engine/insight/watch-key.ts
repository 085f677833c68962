import { Observable } from 'rxjs';
import { LockClosedError } from '../../lock/errors.js';
import type { LockSnapshot } from '../../lock/snapshot.js';
import { failedWith, isAboutTheLink, SessionError } from '../../session/errors.js';
import { exists, type Watcher } from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import { detached } from '../bounds/owner-context.js';
import type { LinkState } from '../upkeep/link-state.js';
import { listQueue } from '../upkeep/queue-lists.js';

/**
 * The key's snapshots as its queue changes: fed by watches, at most one a turn of the event loop, and one after each
 * reconnect. Changes in between may be skipped; the last one is not.
 */
export function watchKey(
  { session, link }: { readonly session: Session; readonly link: LinkState },
  queuePath: string,
  inspect: () => Promise<LockSnapshot>,
): Observable<LockSnapshot> {
  return new Observable<LockSnapshot>((subscriber) => {
    // As for those who subscribed before: nothing more will come, and no change of the state will say so.
    if (session.state === 'closed') return subscriber.complete();
    let isLooking = false;
    let isStale = false;

    const watcher: Watcher = { onWatchEvent: () => changed() };
    const stopListening = link.onChange('calls', (state) => {
      if (state === 'closed') subscriber.complete();
      else if (link.isUp) changed();
    });

    function changed(): void {
      isStale = true;
      // Whatever told of the change may have locks around it that the subscriber does not have.
      if (!isLooking) void detached(look);
    }

    async function look(): Promise<void> {
      isLooking = true;
      try {
        while (isStale && !subscriber.closed && link.isUp) {
          isStale = false;
          const [listed] = await session.batch([listQueue(queuePath, watcher)]);
          if (subscriber.closed) return;
          // Nothing is watched then. On the next link there is another look in any case.
          if (listed instanceof SessionError && isAboutTheLink(listed)) isStale = true;
          if (failedWith(listed, 'NO_NODE')) {
            // A queue that does not exist yet is watched for its creation; one that was created just now, as any other.
            const [found] = await session.batch([exists(queuePath, watcher)]);
            if (found !== undefined) isStale = true;
          }
          const snapshot = await inspect();
          if (!subscriber.closed) subscriber.next(snapshot);
        }
      } catch (error) {
        if (error instanceof LockClosedError) subscriber.complete();
        // Else the link went away meanwhile, and there will be another look when it is back.
        else if (link.isUp) subscriber.error(error);
      } finally {
        isLooking = false;
      }
    }

    changed();
    return () => {
      stopListening();
      session.unwatch(queuePath, watcher);
    };
  });
}
