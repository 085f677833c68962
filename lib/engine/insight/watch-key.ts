import { Observable } from 'rxjs';
import { LockClosedError } from '../../lock/errors.js';
import type { LockSnapshot } from '../../lock/snapshot.js';
import { failedWith, isAboutTheLink, SessionError } from '../../session/errors.js';
import { exists, type Watcher } from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import { detached } from '../bounds/owner-context.js';
import type { LinkState } from '../upkeep/link-state.js';
import { listQueue } from '../upkeep/key-nodes.js';

/**
 * Emits a snapshot of the key whenever a watch reports a change of its queue, and after each reconnect. Changes that follow
 * each other quickly may share a snapshot; the last change is always seen.
 */
export function watchKey(
  { session, link }: { readonly session: Session; readonly link: LinkState },
  queuePath: string,
  inspect: () => Promise<LockSnapshot>,
): Observable<LockSnapshot> {
  return new Observable<LockSnapshot>((subscriber) => {
    // A closed session changes its state no more, so the listener below would never complete this subscriber.
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
      // The change may be reported in a call that has locks around it. The subscriber does not have those.
      if (!isLooking) void detached(look);
    }

    async function look(): Promise<void> {
      isLooking = true;
      try {
        while (isStale && !subscriber.closed && link.isUp) {
          isStale = false;
          const [listed] = await session.batch([listQueue(queuePath, watcher)]);
          if (subscriber.closed) return;
          // The list set no watch then. The next link brings another look in any case.
          if (listed instanceof SessionError && isAboutTheLink(listed)) isStale = true;
          if (failedWith(listed, 'NO_NODE')) {
            // The queue does not exist, so its creation is watched. If it was created since the list, it is listed again.
            const [found] = await session.batch([exists(queuePath, watcher)]);
            if (found !== undefined) isStale = true;
          }
          const snapshot = await inspect();
          if (!subscriber.closed) subscriber.next(snapshot);
        }
      } catch (error) {
        if (error instanceof LockClosedError) subscriber.complete();
        // Otherwise the link went away meanwhile, and the next one brings another look.
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
