import { remove } from '../../../lib/session/requests.js';
import type { AppProcess } from './app-process.js';
import { Caller } from './caller.js';
import type { Schedule } from './schedule.js';

/** The watch on a held node is asked for when the hold is 250 ms old; the variations let the link go around then. */
const LINK_GOES_AFTER_MS = 200;
const STEP_MS = 2;

/** The link of a holder goes and comes back, and only then an operator removes the node that it holds by. */
export async function removedAfterTheLinkHadGone(schedule: Schedule): Promise<void> {
  const { apps, world, book, scenario } = schedule;
  const [holder, operator] = apps as [AppProcess, AppProcess];
  const caller = new Caller(schedule, holder, 'holder');
  schedule.call(holder, async () => {
    const grant = caller.granted('/locks/a', await holder.service.acquire('/locks/a'));
    await holder.sleep(2 * scenario.sessionTimeoutMs);
    await caller.release(grant);
  });
  await schedule.runFor(LINK_GOES_AFTER_MS + scenario.seed * STEP_MS);
  world.faults.suspend(holder.machine);
  await schedule.runFor(scenario.sessionTimeoutMs / 2);
  const path = book.truth.paths.at(-1)!;
  book.excusePath(path);
  void operator.session.batch([remove(path)]);
  await schedule.runFor(scenario.sessionTimeoutMs);
}
