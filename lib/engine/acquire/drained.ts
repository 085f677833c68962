import { LockDrainedError } from '../../lock/intervention-errors.js';
import { decodeIntervention, DRAIN_MARKER } from '../../queue/intervention.js';
import { isAboutTheLink, SessionError } from '../../session/errors.js';
import { get } from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { LockRequest } from '../contender.js';
import type { LinkState } from '../upkeep/link-state.js';

/**
 * Called when somebody has removed the node of a contender that waited. Whoever drains a queue puts its marker there before the first
 * removal, so a server that shows the removal shows the marker.
 * @throws LockDrainedError while the queue is being drained
 */
export async function refuseWhileDrained(
  { session, link }: { readonly session: Session; readonly link: LinkState },
  { key, queuePath }: LockRequest,
  scope: CallScope,
): Promise<void> {
  for (;;) {
    await link.whenUp(scope);
    const [marker] = await scope.guard(session.batch([get(`${queuePath}/${DRAIN_MARKER}`)]));
    if (marker instanceof SessionError) {
      if (isAboutTheLink(marker)) continue;
      return;
    }
    const { by, reason } = decodeIntervention(marker.data);
    const text = `All waits for ${key} were ended by ${by}: ${reason}. The call may ask again when that is over`;
    throw new LockDrainedError(text, key, { by, reason });
  }
}
