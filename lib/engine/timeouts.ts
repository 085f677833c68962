import { LockTimeoutError, LockUnavailableError, type LockError } from '../lock/errors.js';
import type { Deadline } from '../lock/deadline.js';
import type { EngineContext } from './context.js';
import type { Interrupt } from './interrupt.js';

/** Who has waited for less cannot tell a silent link from one that had no time to answer. */
const SILENCE_MS = 200;

/** What it means that the time is up: the lock was busy, or ZooKeeper was not there. */
export function timeoutError(
  { uplink, session, clock }: EngineContext,
  key: string,
  deadline: Deadline,
  { isBehindOthers, openedAt }: Interrupt,
): LockError {
  if (uplink.isUp && isBehindOthers) return busyError(key, deadline);
  const waited = within(deadline);
  if (uplink.isUp && clock.now() - openedAt < SILENCE_MS)
    return new LockTimeoutError(`The lock ${key} was not to be had ${waited}: there was no time for an answer`, key);
  const trouble = uplink.isUp ? 'no answer came' : `the connection is ${session.state}`;
  const failures = session.describeFailures();
  return new LockUnavailableError(
    `ZooKeeper was not to be had for the lock ${key} ${waited}: ${trouble}${failures === '' ? '' : ` (${failures})`}`,
    key,
  );
}

export function busyError(key: string, deadline: Deadline): LockTimeoutError {
  return new LockTimeoutError(
    `The lock ${key} was not to be had ${within(deadline)}: others hold it or wait in front`,
    key,
  );
}

function within(deadline: Deadline): string {
  return `within ${Math.round(deadline.elapsedMs())} ms`;
}
