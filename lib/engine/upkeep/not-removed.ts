import { LockConfigurationError, LockUnavailableError } from '../../lock/errors.js';
import type { LockEventFacts } from '../../lock/events.js';
import { parseNodeName } from '../../queue/node-name.js';
import type { SessionError } from '../../session/errors.js';

/** What the application is told of a node that it no longer wants, and that the servers refuse to remove. */
export function notRemoved(namespace: string, nodePath: string, cause: SessionError): LockEventFacts {
  const nameAt = nodePath.lastIndexOf('/') + 1;
  const key = nodePath.slice(namespace.length, nameAt - 1);
  const mode = parseNodeName(nodePath.slice(nameAt))?.mode ?? 'exclusive';
  return { type: 'not-removed', key, mode, label: undefined, nodePath, error: explain(nodePath, key, cause) };
}

function explain(nodePath: string, key: string, cause: SessionError): LockConfigurationError | LockUnavailableError {
  if (cause.code === 'TOO_LARGE') {
    const text =
      `A contender may be left in the queue of ${key}, which is too long to be searched: ${cause.message}. It is searched ` +
      'for again once there are fewer, and is gone with this session at the latest';
    return new LockConfigurationError(text, key, { cause });
  }
  const text = `The servers refuse to remove ${nodePath} (${cause.code}): it stays in the queue of ${key} until they do, or until this session ends`;
  return cause.code === 'NO_AUTH'
    ? new LockConfigurationError(`${text}. The acl must also give this client DELETE`, key, { cause })
    : new LockUnavailableError(text, key, { cause });
}
