import { isUp } from '../../../lib/session/connection-state.js';
import type { AppProcess } from './app-process.js';
import { Caller } from './caller.js';
import type { Schedule } from './schedule.js';

/** The link goes so much later at each cold key: somewhere between the first byte of its batch and the answer. */
const STEP_MS = 0.5;
const KEYS = 40;

/** Of the batch that makes a cold key, with its parents and the contender, only the beginning arrives. */
export async function neverArrivesAtItsContainer(schedule: Schedule): Promise<void> {
  const { apps, world, scenario } = schedule;
  const [app] = apps as [AppProcess];
  const caller = new Caller(schedule, app, 'caller');
  for (let index = 0; index < KEYS; index += 1) {
    const key = `/cold-${index}/key`;
    schedule.call(app, async () => {
      const lock = await app.service.acquire(key, { waitMs: 50 }).catch(() => undefined);
      if (lock !== undefined) await caller.release(caller.granted(key, lock));
    });
    await schedule.runFor(index * STEP_MS + scenario.seed * 0.1);
    world.faults.refuse(app.machine);
    await schedule.runUntil(() => schedule.areCallersDone);
    world.faults.accept(app.machine);
    await schedule.runUntil(() => isUp(app.session.state));
  }
}
