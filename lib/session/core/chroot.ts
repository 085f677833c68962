import { LockConfigurationError } from '../../lock/errors.js';
import { failedWith, isAboutTheLink, SessionError } from '../errors.js';
import { ancestry } from '../paths.js';
import { create, exists } from '../requests.js';
import { sendTogether } from './call.js';
import type { Connection } from './connection.js';

/**
 * Makes the chroot and its parents where they are missing. Where there is no chroot ('') it only waits for an answer.
 * @returns true when the chroot is there, an error when it never will be, false when the connection went away before
 * that was known
 */
export async function ensureChroot(connection: Connection, chroot: string): Promise<boolean | LockConfigurationError> {
  const parents = ancestry(chroot).map((path) => create(path, 'persistent'));
  const requests = [...parents, exists(chroot === '' ? '/' : chroot)];
  const outcomes = await sendTogether(requests, (call) => connection.conversation.send(call, ''));
  const found = outcomes.at(-1);
  if (found instanceof SessionError && isAboutTheLink(found)) {
    // This server may only be too busy: another connection asks again.
    connection.giveUp(found);
    return false;
  }
  if (found !== undefined && !(found instanceof SessionError)) return true;
  // A create that failed because the node exists is a success here; the first other failure says why the chroot is
  // missing.
  const cause = outcomes.find((outcome) => outcome instanceof Error && !failedWith(outcome, 'NODE_EXISTS'));
  const text =
    `connect: the chroot ${chroot} does not exist, and this client could not make it. Create it with its parents, or allow the ` +
    'user of the option auth to create nodes there';
  // The message of the error leaves the process and must not name a path. Given as the key, the path is in the details
  // alone.
  return new LockConfigurationError(text, chroot, { cause });
}
