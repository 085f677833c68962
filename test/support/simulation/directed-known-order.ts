import type { AcquireOptions } from '../../../lib/lock/acquire-options.js';
import { isUp } from '../../../lib/session/connection-state.js';
import type { AppProcess } from './app-process.js';
import { Caller } from './caller.js';
import type { Schedule } from './schedule.js';

const KEY = '/locks/a';
/** Everything that was sent has been answered. */
const SETTLED_MS = 20;
/** The second use watches the key's node, the third one is the first that needs no list. */
const USES = 3;

/** Takes the lock and gives it back, so many times, one after the other. */
async function use(schedule: Schedule, app: AppProcess, times: number, heldMs = 1): Promise<void> {
  const caller = new Caller(schedule, app, `${app.name} uses`);
  for (let count = 0; count < times; count += 1) {
    const grant = caller.granted(KEY, await app.service.acquire(KEY));
    await app.sleep(heldMs);
    await caller.release(grant);
  }
}

async function useToTheEnd(schedule: Schedule, app: AppProcess, times: number): Promise<void> {
  schedule.call(app, () => use(schedule, app, times));
  await schedule.runUntil(() => schedule.areCallersDone);
  await schedule.runFor(SETTLED_MS);
}

/** The other process takes the lock as often, and holds it when it has the number in front of the next one of the first. */
async function reachTheSameNumber(schedule: Schedule, other: AppProcess, times: number): Promise<void> {
  await useToTheEnd(schedule, other, times - 1);
  schedule.call(other, () => use(schedule, other, 1, schedule.scenario.sessionTimeoutMs / 2));
  await schedule.runFor(SETTLED_MS);
}

/** The first process comes back, and all the others behind it. */
async function takeTurns(schedule: Schedule): Promise<void> {
  const { apps, scenario } = schedule;
  for (const app of apps) {
    schedule.call(app, () => use(schedule, app, 1, scenario.sessionTimeoutMs / 4));
    await schedule.runFor(SETTLED_MS);
  }
  await schedule.runUntil(() => schedule.areCallersDone);
}

/** The servers take the node of a key away that one process used again and again; another one makes it again, and numbers follow. */
export async function itsKeyIsMadeAgain(schedule: Schedule): Promise<void> {
  const { apps, world, scenario } = schedule;
  const [process, other] = apps as [AppProcess, AppProcess];
  const times = USES + (scenario.seed % 3);
  await useToTheEnd(schedule, process, times);
  world.faults.reapContainers();
  await schedule.runFor(scenario.seed * 0.1);
  await reachTheSameNumber(schedule, other, times);
  await takeTurns(schedule);
}

/** The same while the link of the first one is away: the watch that would have told of it is not there. */
export async function itsKeyIsMadeAgainWithoutItsLink(schedule: Schedule): Promise<void> {
  const { apps, scenario } = schedule;
  const [process, other] = apps as [AppProcess, AppProcess];
  const times = USES + (scenario.seed % 3);
  await useToTheEnd(schedule, process, times);
  await makeAgainWithoutLink(schedule, process, () => reachTheSameNumber(schedule, other, times));
  await takeTurns(schedule);
}

/** The link goes with the answer that would have set the watch, and then the key is made again. */
export async function itsKeyIsMadeAgainUnwatched(schedule: Schedule): Promise<void> {
  const { apps, world } = schedule;
  const [process, other] = apps as [AppProcess, AppProcess];
  await useToTheEnd(schedule, process, 1);
  world.faults.loseReplyOfNext(process.machine, 'get');
  await useToTheEnd(schedule, process, USES - 1);
  await makeAgainWithoutLink(schedule, process, () => reachTheSameNumber(schedule, other, USES));
  await takeTurns(schedule);
}

async function makeAgainWithoutLink(
  schedule: Schedule,
  process: AppProcess,
  makeAgain: () => Promise<void>,
): Promise<void> {
  const { faults } = schedule.world;
  faults.refuse(process.machine);
  faults.reapContainers();
  await schedule.runFor(schedule.scenario.seed * 0.1);
  await makeAgain();
  faults.accept(process.machine);
  await schedule.runUntil(() => isUp(process.session.state));
}

/** Others come in between: some have gone when the process comes back, and one is still there. */
export async function othersComeInBetween(schedule: Schedule): Promise<void> {
  const { apps, scenario } = schedule;
  const [process, other] = apps as [AppProcess, AppProcess];
  await useToTheEnd(schedule, process, USES);
  await reachTheSameNumber(schedule, other, 1 + (scenario.seed % 3));
  await takeTurns(schedule);
}

/**
 * A process that used the key when nobody kept a record of it comes back while one of another process is written there, and stands behind
 * a third: the release changes the record, and is told to that third one alone. In half of the variations it comes in the moment of the
 * release, and cannot know of the record yet.
 */
export async function itsKeyHasARecord(schedule: Schedule): Promise<void> {
  const { apps, scenario } = schedule;
  const [process, other, next] = apps as [AppProcess, AppProcess, AppProcess];
  await useToTheEnd(schedule, process, 1);
  const long = scenario.sessionTimeoutMs / 4;
  const pauseMs = SETTLED_MS + scenario.seed;
  const heldMs = scenario.seed <= 20 ? long : 2 * pauseMs - 5 + (scenario.seed - 20) * 0.25;
  const queue: [AppProcess, AcquireOptions, number][] = [
    [other, { onAbandoned: 'enter' }, heldMs],
    [next, { onAbandoned: 'enter' }, long],
    [process, scenario.seed % 2 === 0 && heldMs === long ? { onAbandoned: 'enter' } : {}, long],
  ];
  for (const [app, options, holdMs] of queue) {
    const caller = new Caller(schedule, app, `${app.name} waits`);
    schedule.call(app, async () => {
      const grant = caller.granted(KEY, await app.service.acquire(KEY, options));
      await app.sleep(holdMs);
      await caller.release(grant);
    });
    await schedule.runFor(pauseMs);
  }
  await schedule.runUntil(() => schedule.areCallersDone);
}
