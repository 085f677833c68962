import { isAboutTheLink, SessionError } from '../../session/errors.js';
import { type Children, remove } from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import { listQueue } from './list-queue.js';

/**
 * Lists a queue so that a create of ours whose answer never came is seen, if it will ever be carried out. `sync` is not
 * enough: a leader that cannot commit for a while answers it, and commits the create later. A write is decided behind
 * that create, on whatever server it is asked, also one that is refused: here the deletion of a node that never exists.
 *
 * @param marker what the names looked for have in them
 */
export async function listBehindWrites(
  session: Session,
  queuePath: string,
  marker: string,
): Promise<Children | SessionError> {
  const [written, listed] = await session.batch([remove(`${queuePath}/${marker}`), listQueue(queuePath)]);
  return written instanceof SessionError && isAboutTheLink(written) ? written : listed;
}
