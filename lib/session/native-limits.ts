import { LockConfigurationError } from '../lock/errors.js';

const NO_ACL = 'it makes every node with all rights for anyone';
const NO_TRANSACTIONS = 'it has no transactions';

/**
 * What is refused with the client `native`, each with the reason why the npm package `zookeeper` cannot do it. Nothing of
 * this is done in part. `docs/native-client.md` has the same table.
 */
export const NATIVE_LIMITS = {
  tls: 'it is built without TLS',
  auth: `${NO_ACL}, so credentials would protect nothing`,
  acl: NO_ACL,
  lockDelayMs: `${NO_TRANSACTIONS}, and a release removes the node and the holder's name together`,
  onAbandoned: `${NO_TRANSACTIONS}, and a release removes the node and the holder's name together`,
  atLeastMs: `${NO_TRANSACTIONS}, and what is written down of a run counts only while its node is there`,
  upgradeable: `${NO_TRANSACTIONS}, and a writer that was upgraded leaves the queue with two nodes at once`,
  FencedZnodes: `${NO_TRANSACTIONS}, and each write is one, with the check that the lock is still held`,
  createLockDoctor: `${NO_TRANSACTIONS}, and a waiter is removed only while it certainly waits`,
  'memory:': 'it connects to servers only',
} as const;

export function nativeRefusal(feature: keyof typeof NATIVE_LIMITS, key?: string): LockConfigurationError {
  const text = `${feature}: the npm package zookeeper, which client: 'native' uses, cannot do this: ${NATIVE_LIMITS[feature]}. Use client: 'wire'`;
  return new LockConfigurationError(text, key);
}
