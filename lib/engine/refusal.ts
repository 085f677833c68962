import { LockConfigurationError, LockUnavailableError } from '../lock/errors.js';
import type { SessionError } from '../session/errors.js';
import { TooLargeAnswerError } from '../session/too-large-answer-error.js';

/** The error for an answer of the servers that trying again does not change. */
export function refusal(error: SessionError, key: string): LockConfigurationError | LockUnavailableError {
  const cause = { cause: error };
  switch (error.code) {
    case 'NO_AUTH':
    case 'INVALID_ACL':
    case 'AUTH_FAILED':
      return new LockConfigurationError(
        `ZooKeeper denies access to the queue of ${key}: check auth and acl`,
        key,
        cause,
      );
    case 'NO_CHILDREN_FOR_EPHEMERALS':
      return new LockConfigurationError(
        `A part of the key ${key} is an ephemeral node, under which nothing can queue`,
        key,
        cause,
      );
    case 'LOCAL_SESSION':
      return new LockConfigurationError(
        `Nobody can queue on ${key}: the servers have localSessionsEnabled, and a local session cannot own a place in a queue. ` +
          'Set localSessionsUpgradingEnabled=true in their zoo.cfg, or localSessionsEnabled=false',
        key,
        cause,
      );
    case 'READ_ONLY':
      return new LockConfigurationError(
        `Nobody can queue on ${key}: the server is read-only (readonlymode.enabled, and it has no quorum). Turn that flag off, ` +
          'or list only servers of the quorum in connect',
        key,
        cause,
      );
    case 'QUOTA_EXCEEDED':
      return new LockConfigurationError(`A ZooKeeper quota leaves no room in the queue of ${key}`, key, cause);
    case 'TOO_LARGE':
      if (error instanceof TooLargeAnswerError) return overcrowded(error, key);
      return new LockConfigurationError(`ZooKeeper cannot keep a queue for ${key}: ${error.message}`, key, cause);
    case 'BAD_ARGUMENTS':
    case 'UNIMPLEMENTED':
      return new LockConfigurationError(`ZooKeeper cannot keep a queue for ${key}: ${error.message}`, key, cause);
    default:
      return new LockUnavailableError(`ZooKeeper refused a place in the queue of ${key}: ${error.message}`, key, cause);
  }
}

/** The error for a queue that cannot be listed because too many keys stand below its key. */
function overcrowded(cause: TooLargeAnswerError, key: string): LockConfigurationError {
  const text =
    `The queue of ${key} cannot be read: ${cause.message}. The keys below a key are children of its node: ` +
    'lock a key that has none below it, or fewer';
  return new LockConfigurationError(text, key, { cause });
}
