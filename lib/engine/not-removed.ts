import { LockConfigurationError, LockUnavailableError } from '../lock/errors.js';
import type { LockEvent } from '../lock/events.js';
import { parseNodeName } from '../queue/node-name.js';
import type { SessionError } from '../session/errors.js';

/** What the application is told of a node that it no longer wants, and that the servers refuse to remove. */
export function notRemoved(namespace: string, nodePath: string, cause: SessionError): LockEvent {
  const nameAt = nodePath.lastIndexOf('/') + 1;
  const key = nodePath.slice(namespace.length, nameAt - 1);
  const mode = parseNodeName(nodePath.slice(nameAt))?.mode ?? 'exclusive';
  const text = `The servers refuse to remove ${nodePath} (${cause.code}): it stands in the queue of ${key} until they do, or this session ends`;
  const error =
    cause.code === 'NO_AUTH'
      ? new LockConfigurationError(`${text}. The acl must give this client DELETE, too`, key, { cause })
      : new LockUnavailableError(text, key, { cause });
  return { type: 'not-removed', key, mode, label: undefined, nodePath, error };
}
