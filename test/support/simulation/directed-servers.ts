import type { Subscription } from 'rxjs';
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

/** SIGSTOP: its connections stand, and nothing is answered any more. There is time to find another server. */
export async function itsServerDiesSilently(schedule: Schedule): Promise<void> {
  await loseServer(schedule, ({ world }, id) => world.faults.freezeServer(id));
}

export async function itsServerDiesWithAReset(schedule: Schedule): Promise<void> {
  await loseServer(schedule, ({ world }, id) => world.faults.killServer(id));
}

/**
 * Two of three servers are gone for longer than is certain of a session that was offered in vain; the third one accepts
 * connections and hangs up on handshakes.
 */
export async function theQuorumIsAway(schedule: Schedule): Promise<void> {
  await loseQuorum(schedule, 5 * schedule.scenario.tickMs);
}

/** For two fifths of S: there is more certainty in the least lucky moment, and holders do not sleep it away. */
export async function theQuorumIsAwayAtTheDefaults(schedule: Schedule): Promise<void> {
  await loseQuorum(schedule, 0.42 * schedule.scenario.sessionTimeoutMs);
}

async function loseQuorum(schedule: Schedule, durationMs: number): Promise<void> {
  const { apps, world, scenario } = schedule;
  const [holder] = apps as [AppProcess];
  holdFor(schedule, holder, 3 * scenario.sessionTimeoutMs);
  await schedule.runFor(scenario.sessionTimeoutMs / 3 + scenario.seed * 170);
  world.faults.dropQuorum();
  await schedule.runFor(durationMs);
  world.faults.restoreQuorum();
  await schedule.runFor(scenario.sessionTimeoutMs);
}

async function loseServer(schedule: Schedule, lose: (schedule: Schedule, id: number) => void): Promise<void> {
  const { apps, world, scenario } = schedule;
  const [holder] = apps as [AppProcess];
  holdFor(schedule, holder, 6 * scenario.sessionTimeoutMs);
  const server = await whenIdleOnFollower(schedule, holder);
  lose(schedule, server);
  await schedule.runFor(3 * scenario.sessionTimeoutMs);
  world.faults.startServer(server);
  world.faults.thawServer(server);
}

/** A server that stands still for a while, as for a garbage collection, is not left: there is time to wait for it. */
export async function itsServerPauses(schedule: Schedule): Promise<void> {
  const { apps, world, scenario } = schedule;
  const [holder] = apps as [AppProcess];
  holdFor(schedule, holder, 6 * scenario.sessionTimeoutMs);
  const server = await whenIdleOnFollower(schedule, holder);
  const staying = mustStay(schedule, holder);
  world.faults.freezeServer(server);
  await schedule.runFor(0.3 * scenario.sessionTimeoutMs);
  world.faults.thawServer(server);
  await schedule.runFor(scenario.sessionTimeoutMs);
  staying.unsubscribe();
}

/** 300 ms from a request to its answer. */
export async function itsNetworkIsSlow(schedule: Schedule): Promise<void> {
  const { apps, world, scenario } = schedule;
  const [holder] = apps as [AppProcess];
  holdFor(schedule, holder, 6 * scenario.sessionTimeoutMs);
  await whenIdleOnFollower(schedule, holder);
  const staying = mustStay(schedule, holder);
  world.faults.setLatency(holder.machine, 150);
  await schedule.runFor(3 * scenario.sessionTimeoutMs);
  staying.unsubscribe();
}

/**
 * The process stands still between two pings, and comes back at about the end of two thirds of S, in most variations just ahead of
 * it: its next ping leaves so late that the answer comes after that. The server has not been silent, so there is time to wait for it.
 */
export async function itsProcessComesBackAsTheSilenceEnds(schedule: Schedule): Promise<void> {
  const { apps, world, scenario } = schedule;
  const [process] = apps as [AppProcess];
  world.faults.setLatency(process.machine, 150);
  // Some instant between two pings, by the variation.
  await schedule.runFor(scenario.sessionTimeoutMs + (scenario.seed / 40) * scenario.tickMs);
  const staying = mustStay(schedule, process);
  process.pause();
  await schedule.runFor((scenario.sessionTimeoutMs * 2) / 3 - 250);
  process.resume();
  await schedule.runFor(scenario.sessionTimeoutMs);
  staying.unsubscribe();
}

/** @returns the follower that it is connected to; some instant between two heartbeats, by the variation */
async function whenIdleOnFollower(schedule: Schedule, app: AppProcess): Promise<number> {
  const { world, scenario } = schedule;
  while (app.machine.connectedTo[0] === world.leaderId) {
    world.faults.suspend(app.machine);
    await schedule.runFor(scenario.sessionTimeoutMs / 10);
  }
  await schedule.runFor(scenario.sessionTimeoutMs * (1 + (scenario.seed % 60) / 60));
  return app.machine.connectedTo[0]!;
}

function mustStay(schedule: Schedule, app: AppProcess): Subscription {
  return app.session.state$.subscribe((state) => {
    if (state !== 'suspended') return;
    schedule.judge.blame('no false loss', `${app.name} left a server that it had time to wait for`);
  });
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
