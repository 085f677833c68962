import { LockConfigurationError } from '../../lock/errors.js';
import { failedWith, isAboutTheLink, SessionError } from '../errors.js';
import { ancestry } from '../paths.js';
import { create, exists } from '../requests.js';
import { Batch } from './call.js';
import type { Connection } from './connection.js';

/**
 * Makes the chroot with its parents where they are missing; without one, '', it only waits for an answer.
 * @returns whether it is there now, or why it never will be; false when the connection went away before that was known
 */
export async function ensureChroot(connection: Connection, chroot: string): Promise<boolean | LockConfigurationError> {
  const batch = new Batch([
    ...ancestry(chroot).map((path) => create(path, 'persistent')),
    exists(chroot === '' ? '/' : chroot),
  ]);
  for (const call of batch.calls) connection.conversation.send(call, '');
  const outcomes = await batch.promise;
  const found = outcomes.at(-1);
  if (found instanceof SessionError && isAboutTheLink(found)) {
    // A server that is only too busy is asked again, on another connection.
    connection.giveUp(found);
    return false;
  }
  if (found !== undefined && !(found instanceof SessionError)) return true;
  const cause = outcomes.find((outcome) => outcome instanceof Error && !failedWith(outcome, 'NODE_EXISTS'));
  const text =
    `connect: the chroot ${chroot} does not exist, and this client could not make it. Create it with its parents, or allow the ` +
    'user of the option auth to create nodes there';
  // The first call may be of somebody outside, who is told of no path: with it as the key, the details alone have it.
  return new LockConfigurationError(text, chroot, { cause });
}
