import { list, remove } from '../../../lib/session/requests.js';
import { drawScenario, type Scenario } from './scenario.js';
import { Caller } from './caller.js';
import { codeOf } from './app-process.js';
import { oneIsSilentAfterAllRefused } from './directed-servers.js';
import { checkRest } from './rest.js';
import { Schedule } from './schedule.js';
import type { Verdict } from './run-seed.js';

interface Directed {
  readonly settings: Partial<Scenario>;
  play(schedule: Schedule): Promise<void>;
}

/** What chance finds too rarely, played on purpose; the same checkers look on. */
export const DIRECTED: Readonly<Record<string, Directed>> = {
  'cut off with its follower': {
    settings: { profile: 'servers', servers: 3, tickMs: 500, sessionTimeoutMs: 5_000, waitMs: 30_000, processes: 2 },
    play: cutOffWithItsFollower,
  },
  'removed while it proves its life': {
    settings: {
      profile: 'administration',
      servers: 1,
      tickMs: 500,
      sessionTimeoutMs: 1_000,
      waitMs: 30_000,
      processes: 3,
    },
    play: removedWhileItProvesItsLife,
  },
  'counter at its ceiling': {
    settings: {
      profile: 'administration',
      servers: 1,
      tickMs: 500,
      sessionTimeoutMs: 2_000,
      waitMs: 2_000,
      processes: 2,
    },
    play: counterAtItsCeiling,
  },
  'one is silent after all have refused': {
    settings: { profile: 'servers', servers: 3, tickMs: 500, sessionTimeoutMs: 10_000, waitMs: 30_000, processes: 1 },
    play: oneIsSilentAfterAllRefused,
  },
};

/** Plays one of them; `variation` shifts its instants against the servers' ticks. */
export async function playDirected(name: string, variation: number, print?: (line: string) => void): Promise<Verdict> {
  const directed = DIRECTED[name];
  if (directed === undefined) throw new Error(`There is no ${name}. There are: ${Object.keys(DIRECTED).join(', ')}`);
  const plain = { namespace: '', lockDelayMs: 0, callers: 0, faults: 0, activeMs: 0, containerCheckMs: 60_000 };
  const fast = { clientLatencyMs: 1, peerLatencyMs: 1, logMs: 0, stopOnSuspension: 0 };
  const scenario = { ...drawScenario(variation), ...plain, ...fast, keys: ['/locks/a'], ...directed.settings };
  const schedule = new Schedule(scenario, print);
  for (let index = 0; index < scenario.processes; index += 1) schedule.start(`p${index}`);
  await schedule.runUntil(() => schedule.apps.every(({ session }) => session.state === 'connected'));
  await directed.play(schedule);
  schedule.isQuiet = true;
  schedule.world.faults.heal();
  await schedule.runUntil(() => schedule.areCallersDone);
  if (schedule.judge.violations.length === 0) await checkRest(schedule);
  const { judge, journal, book } = schedule;
  return { seed: variation, scenario, violations: judge.violations, digest: journal.digest, grants: book.grants };
}

/** The follower goes on answering pings and reads long after the others have ended the session. */
async function cutOffWithItsFollower(schedule: Schedule): Promise<void> {
  const { apps, world, scenario } = schedule;
  const [holder, next] = apps as [(typeof apps)[number], (typeof apps)[number]];
  const caller = new Caller(schedule, holder, 'holder');
  schedule.call(holder, async () => {
    const grant = caller.granted('/locks/a', await holder.service.acquire('/locks/a'));
    await holder.sleep(3 * scenario.sessionTimeoutMs);
    await caller.release(grant);
  });
  // Somebody reads all the time, and is answered.
  schedule.call(holder, async () => {
    while (holder.session.state === 'connected') {
      await holder.session.batch([list('/locks')]);
      await holder.sleep(50);
    }
  });
  await schedule.runFor(scenario.sessionTimeoutMs + (scenario.seed % 40) * 63);
  const follower = holder.machine.connectedTo[0];
  if (follower !== undefined) world.faults.isolate(follower, [holder.machine]);
  schedule.call(next, async () => {
    const waiting = new Caller(schedule, next, 'next');
    const grant = waiting.granted('/locks/a', await next.service.acquire('/locks/a'));
    await waiting.release(grant);
  });
  await schedule.runFor(2 * scenario.sessionTimeoutMs);
}

/** Its turn has come, the session has been silent for long, and before the proof is there an operator removes the node. */
async function removedWhileItProvesItsLife(schedule: Schedule): Promise<void> {
  const { apps, book, scenario } = schedule;
  const [holder, next, operator] = apps as [(typeof apps)[number], (typeof apps)[number], (typeof apps)[number]];
  const lock = holder.service.acquire('/locks/a');
  await schedule.runFor(100);
  schedule.call(next, async () => {
    const waiting = new Caller(schedule, next, 'next');
    const grant = waiting.granted('/locks/a', await next.service.acquire('/locks/a'));
    await waiting.release(grant);
  });
  await schedule.runFor(3 * scenario.sessionTimeoutMs);
  const path = book.truth.paths.at(-1)!;
  book.excusePath(path);
  schedule.call(holder, async () => (await lock).release());
  await schedule.runFor(scenario.seed * 0.5);
  void operator.session.batch([remove(path)]);
  await schedule.runFor(scenario.sessionTimeoutMs);
}

/** From there on siblings share a number, and nobody knows who came first: nobody may enter. */
async function counterAtItsCeiling(schedule: Schedule): Promise<void> {
  const { apps, world, judge } = schedule;
  const [first] = apps as [(typeof apps)[number]];
  schedule.call(first, async () => {
    const lock = await first.service.acquire('/locks/a');
    await lock.release();
  });
  await schedule.runUntil(() => schedule.areCallersDone);
  world.faults.jumpSequence('/locks/a', 2_147_483_645 + (schedule.scenario.seed % 3));
  for (const app of apps) {
    schedule.call(app, async () => {
      for (let count = 0; count < 4; count += 1) {
        const caller = new Caller(schedule, app, `c${count}`);
        const lock = await app.service.acquire('/locks/a').catch((error: unknown) => codeOf(error));
        if (typeof lock !== 'string') {
          const grant = caller.granted('/locks/a', lock);
          await app.sleep(10);
          await caller.release(grant);
        } else if (lock !== 'LOCK_CONFIGURATION')
          judge.blame('honest errors', `${app.name}: ${lock} at the ceiling of the counter`);
      }
    });
  }
  await schedule.runUntil(() => schedule.areCallersDone);
  // Once nobody queues there, the servers may take the parent away, and it starts again.
  await schedule.runFor(1_000);
  world.faults.reapContainers();
}
