import { LockConfigurationError, LockUnavailableError } from '../../lock/errors.js';
import { SessionError } from '../../session/errors.js';

/** The error for an answer that another try does not change. What is no answer of the servers comes out as it is. */
export function refusal(error: unknown, path: string): unknown {
  if (!(error instanceof SessionError)) return error;
  const cause = { cause: error };
  switch (error.code) {
    case 'NO_AUTH':
    case 'AUTH_FAILED':
    case 'INVALID_ACL':
      return new LockConfigurationError(`ZooKeeper denies access to ${path}: check auth and acl`, path, cause);
    case 'NO_CHILDREN_FOR_EPHEMERALS':
      return new LockConfigurationError(
        `A part of ${path} is an ephemeral node, which cannot have children`,
        path,
        cause,
      );
    case 'NOT_EMPTY':
      return new LockConfigurationError(`${path} has children: remove them first`, path, cause);
    case 'QUOTA_EXCEEDED':
    case 'TOO_LARGE':
    case 'BAD_ARGUMENTS':
    case 'UNIMPLEMENTED':
      return new LockConfigurationError(`ZooKeeper cannot keep ${path}: ${error.message}`, path, cause);
    default:
      return new LockUnavailableError(`ZooKeeper refused ${path}: ${error.message}`, path, cause);
  }
}
