import { isUp } from '../../../lib/session/connection-state.js';
import type { AppProcess } from './app-process.js';
import { Caller } from './caller.js';
import type { Schedule } from './schedule.js';

/** The link goes so much later at each cold key: somewhere between the first byte of its batch and the answer. */
const STEP_MS = 0.5;
const KEYS = 40;
const KEY = '/locks/a';

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

/**
 * Several have just asked to be told of the end of the one in front of them, and give up before that is answered. It ends a moment
 * later: nobody of them is told.
 */
export async function givesUpWhileItBeginsToWait(schedule: Schedule): Promise<void> {
  const { apps, scenario } = schedule;
  const [holder, ...others] = apps as [AppProcess, ...AppProcess[]];
  const caller = new Caller(schedule, holder, 'holder');
  const lock = await untilAnswered(schedule, holder.service.acquire(KEY));
  const grant = caller.granted(KEY, lock);
  const givesUp = new AbortController();
  for (const other of others)
    schedule.call(other, async () => {
      await other.service.acquire(KEY, { mode: 'read', signal: givesUp.signal }).catch(() => undefined);
    });
  await schedule.runFor(scenario.seed * 0.25);
  schedule.after(0, () => givesUp.abort());
  await schedule.runFor(0.5);
  schedule.call(holder, () => caller.release(grant));
  await schedule.runFor(scenario.sessionTimeoutMs);
}

async function untilAnswered<T>(schedule: Schedule, asked: Promise<T>): Promise<T> {
  let isAnswered = false;
  void asked.finally(() => (isAnswered = true));
  await schedule.runUntil(() => isAnswered);
  return asked;
}
