import type { Deadline } from '../../lock/deadline.js';
import { type LockError, LockTimeoutError, LockUnavailableError } from '../../lock/errors.js';
import type { ConnectionState } from '../../session/connection-state.js';

/** Who has waited for less cannot tell a silent link from one that had no time to answer. */
const SILENCE_MS = 200;

/** What there is to know of the link to ZooKeeper when the time is up. */
export interface LinkFacts {
  readonly isUp: boolean;
  readonly state: ConnectionState;
  /** What went wrong with each server, for people; '' where nothing did. */
  describeFailures(): string;
}

/** The time is up, and nobody was seen in the way: ZooKeeper was not there, or had no time to answer. */
export function timeoutError(link: LinkFacts, key: string, deadline: Deadline, openedAt: number): LockError {
  const within = `within ${Math.round(deadline.elapsedMs())} ms`;
  if (link.isUp && deadline.clock.now() - openedAt < SILENCE_MS)
    return new LockTimeoutError(`There was no time for an answer about the lock ${key} ${within}`, key);
  const trouble = link.isUp ? 'no answer came' : `the connection is ${link.state}`;
  const failures = link.describeFailures();
  const detail = failures === '' ? '' : ` (${failures})`;
  return new LockUnavailableError(
    `ZooKeeper could not be reached for the lock ${key} ${within}: ${trouble}${detail}`,
    key,
  );
}

/** @param holder who holds it, as a sentence; '' or undefined where nobody was seen */
export function busyError(key: string, deadline: Deadline, holder?: string): LockTimeoutError {
  const who = holder || 'Others hold it, or are ahead in the queue: inspect(key) says who';
  const waitedMs = Math.round(deadline.elapsedMs());
  return new LockTimeoutError(`The lock ${key} was still busy after ${waitedMs} ms. ${who}`, key);
}
