import type { LockHandle } from '../../../lib/lock/handle.js';
import type { AppProcess } from './app-process.js';
import { Caller } from './caller.js';
import type { Schedule } from './schedule.js';

/**
 * Everybody refused the holder for a while, as servers do that are being restarted. Then two serve again and one is
 * silent: there is time for the silent one, and for the others after it.
 */
export async function oneIsSilentAfterAllRefused(schedule: Schedule): Promise<void> {
  const { apps, world, scenario } = schedule;
  const [holder] = apps as [AppProcess];
  holdFor(schedule, holder, 2 * scenario.sessionTimeoutMs);
  await schedule.runFor(scenario.sessionTimeoutMs / 2 + scenario.seed * 31);
  world.faults.refuse(holder.machine);
  await schedule.runFor(2_000);
  const [silent = 0] = world.followerIds;
  world.faults.freezeServer(silent);
  world.faults.accept(holder.machine);
  await schedule.runFor(scenario.sessionTimeoutMs);
  world.faults.thawServer(silent);
}

/** Holds a lock that nothing of this scenario may cost it. */
function holdFor(schedule: Schedule, app: AppProcess, durationMs: number): void {
  const caller = new Caller(schedule, app, 'holder');
  schedule.call(app, async () => {
    const lock: LockHandle = await app.service.acquire('/locks/a');
    const grant = caller.granted('/locks/a', lock);
    await app.sleep(durationMs);
    if (!lock.isHeld()) schedule.judge.blame('no false loss', `${app.name} lost a lock that there was time to keep`);
    await caller.release(grant);
  });
}
