import { LockTimeoutError, LockUnavailableError, type LockError } from '../lock/errors.js';
import type { Deadline } from '../lock/deadline.js';
import type { EngineContext } from './context.js';

/** What it means that the time is up: the lock was busy, or ZooKeeper was not there. */
export function timeoutError({ uplink, session }: EngineContext, key: string, deadline: Deadline): LockError {
  const waited = `within ${Math.round(deadline.elapsedMs())} ms`;
  if (uplink.isUp)
    return new LockTimeoutError(`The lock ${key} was not to be had ${waited}: others hold it or wait in front`, key);
  const failures = session.describeFailures();
  return new LockUnavailableError(
    `ZooKeeper was not to be had for the lock ${key} ${waited}: the connection is ${session.state}` +
      (failures === '' ? '' : ` (${failures})`),
    key,
  );
}
