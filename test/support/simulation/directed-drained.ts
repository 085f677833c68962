import type { AcquireOptions } from '../../../lib/lock/acquire-options.js';
import { check, multi, remove } from '../../../lib/session/requests.js';
import type { AppProcess } from './app-process.js';
import { Caller } from './caller.js';
import type { Schedule } from './schedule.js';

const KEY = '/locks/a';
/** Everything that was sent has been answered. */
const SETTLED_MS = 100;

function hold(schedule: Schedule, app: AppProcess, name: string, options: AcquireOptions, holdMs: number): void {
  const caller = new Caller(schedule, app, name);
  schedule.call(app, async () => {
    const grant = caller.granted(KEY, await app.service.acquire(KEY, options));
    await app.sleep(holdMs);
    await caller.release(grant);
  });
}

/** As the lock doctor drains a queue: from the back, and each only while the one that it stands behind is there. */
function drain({ book }: Schedule, operator: AppProcess, [holder, ...waiters]: readonly string[]): void {
  for (const path of waiters) book.excusePath(path);
  const removals = waiters.map((path, index) => multi([check([holder!, ...waiters][index]!), remove(path)]));
  void operator.session.batch(removals.reverse());
}

/**
 * A reader waits behind a neighbour, which waits for a reader of its process. A queue is drained of both, about when the neighbour
 * gives up and the reader in front of it gives the lock back: the node of one that only waited covers nobody.
 */
export async function drainedWhileItsNeighbourGivesUp(schedule: Schedule): Promise<void> {
  const { apps, book, scenario } = schedule;
  const [process, other, operator] = apps as [AppProcess, AppProcess, AppProcess];
  const waitMs = 3 * SETTLED_MS;
  hold(schedule, process, 'first', { mode: 'read' }, 5 * SETTLED_MS);
  await schedule.runFor(SETTLED_MS);
  schedule.call(process, async () => {
    await process.service.acquire(KEY, { waitMs }).catch(() => undefined);
  });
  await schedule.runFor(SETTLED_MS);
  hold(schedule, process, 'next', { mode: 'read' }, scenario.sessionTimeoutMs / 2);
  await schedule.runFor(SETTLED_MS);
  const drained = book.truth.paths;
  hold(schedule, other, 'other', {}, scenario.sessionTimeoutMs);
  await schedule.runFor(SETTLED_MS - 5 + scenario.seed * 0.2);
  drain(schedule, operator, drained);
  await schedule.runFor(2 * scenario.sessionTimeoutMs);
}

/**
 * A neighbour gives up in the turn in which the lock is given back to it, so that the one behind it enters at once. The queue is drained
 * of both about then: whoever has entered must know that its node is missing before the one of the first goes, which still keeps others out.
 */
export async function drainedWhileItsNeighbourGivesUpItsTurn(schedule: Schedule): Promise<void> {
  const { apps, book, scenario } = schedule;
  const [process, other, operator] = apps as [AppProcess, AppProcess, AppProcess];
  const givesUp = new AbortController();
  const caller = new Caller(schedule, process, 'first');
  schedule.call(process, async () => {
    const grant = caller.granted(KEY, await process.service.acquire(KEY));
    await process.sleep(5 * SETTLED_MS);
    givesUp.abort();
    await caller.release(grant);
  });
  await schedule.runFor(SETTLED_MS);
  schedule.call(process, async () => {
    await process.service.acquire(KEY, { signal: givesUp.signal }).catch(() => undefined);
  });
  await schedule.runFor(SETTLED_MS);
  hold(schedule, process, 'next', {}, scenario.sessionTimeoutMs / 2);
  await schedule.runFor(SETTLED_MS);
  const drained = book.truth.paths;
  hold(schedule, other, 'other', {}, scenario.sessionTimeoutMs);
  await schedule.runFor(2 * SETTLED_MS - 5 + scenario.seed * 0.2);
  drain(schedule, operator, drained);
  await schedule.runFor(2 * scenario.sessionTimeoutMs);
}
