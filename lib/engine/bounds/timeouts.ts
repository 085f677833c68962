import { LockTimeoutError, LockUnavailableError, type LockError } from '../../lock/errors.js';
import type { Deadline } from '../../lock/deadline.js';
import type { EngineContext } from '../context.js';
import type { Interrupt } from './interrupt.js';

/** Who has waited for less cannot tell a silent link from one that had no time to answer. */
const SILENCE_MS = 200;

/** What it means that the time is up: the lock was busy, or ZooKeeper was not there. */
export function timeoutError(
  { uplink, session, clock }: EngineContext,
  key: string,
  deadline: Deadline,
  { isBehindOthers, openedAt, describeHolder }: Interrupt,
): LockError {
  if (uplink.isUp && isBehindOthers) return busyError(key, deadline, describeHolder?.());
  const waited = within(deadline);
  if (uplink.isUp && clock.now() - openedAt < SILENCE_MS)
    return new LockTimeoutError(`There was no time for an answer about the lock ${key} ${waited}`, key);
  const trouble = uplink.isUp ? 'no answer came' : `the connection is ${session.state}`;
  const failures = session.describeFailures();
  return new LockUnavailableError(
    `ZooKeeper could not be reached for the lock ${key} ${waited}: ${trouble}${failures === '' ? '' : ` (${failures})`}`,
    key,
  );
}

/** @param holder who holds it, as a sentence; '' or undefined where nobody was seen */
export function busyError(key: string, deadline: Deadline, holder?: string): LockTimeoutError {
  const who = holder || 'Others hold it, or are ahead in the queue: inspect(key) says who';
  return new LockTimeoutError(
    `The lock ${key} was still busy after ${Math.round(deadline.elapsedMs())} ms. ${who}`,
    key,
  );
}

function within(deadline: Deadline): string {
  return `within ${Math.round(deadline.elapsedMs())} ms`;
}
