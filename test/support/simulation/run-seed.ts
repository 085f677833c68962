import { SessionClient } from '../../../lib/session/core/session-client.js';
import { SeededRandom } from '../../../lib/session/simulator/time/random.js';
import { Caller } from './caller.js';
import { hasUpgrades } from './client-under-test.js';
import { endAllFaults, planFaults } from './faults.js';
import { checkRest } from './rest.js';
import { chance, drawScenario, type Scenario } from './scenario.js';
import { Schedule } from './schedule.js';
import { Surgeon } from './surgeon.js';
import type { Violation } from './judge.js';
import type { RareState } from './rare-states.js';
import { RecordDoctor } from './record-doctor.js';
import { takeLocks } from './ways-to-lock.js';

export interface Verdict {
  readonly seed: number;
  readonly scenario: Scenario;
  readonly violations: readonly Violation[];
  /** The same for two runs of the same seed. */
  readonly digest: string;
  readonly grants: number;
  readonly reached: ReadonlySet<RareState>;
}

/** Runs one schedule from its first connection to its last close. */
export async function runSeed(seed: number, print?: (line: string) => void): Promise<Verdict> {
  const scenario = drawScenario(seed);
  const schedule = new Schedule(scenario, print);
  const { judge, journal } = schedule;
  try {
    await play(schedule);
  } catch (error) {
    judge.blame('liveness', error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  const { book, reached } = schedule;
  return { seed, scenario, violations: judge.violations, digest: journal.digest, grants: book.grants, reached };
}

async function play(schedule: Schedule): Promise<void> {
  const { scenario, judge } = schedule;
  for (let index = 0; index < scenario.processes; index += 1) {
    schedule.start(`p${index}`, index < scenario.stopOnSuspension ? 'stop' : 'continue');
  }
  schedule.operator = hasOperator(schedule) ? operatorOf(schedule, 'operator') : undefined;
  if (scenario.record !== undefined) schedule.doctor = new RecordDoctor(schedule, operatorOf(schedule, 'doctor'));
  schedule.surgeon = startSurgeon(schedule);
  await schedule.runUntil(
    () => schedule.apps.every(({ session }) => session.state === 'connected') && schedule.surgeon?.isReady !== false,
  );
  for (const app of schedule.apps) startCallers(schedule, app);
  planFaults(schedule);
  planRestarts(schedule);
  schedule.surgeon?.plan();
  await schedule.runFor(scenario.activeMs);
  schedule.note('quiet');
  schedule.isQuiet = true;
  endAllFaults(schedule);
  // Waits, holds of up to two and a half S and their clean-up, one behind the other.
  const done = await schedule.runUntil(() => schedule.areCallersDone, 40 * scenario.sessionTimeoutMs + 60_000);
  if (judge.violations.length > 0) return;
  if (!done) judge.blame('every promise settles', 'a caller is still busy, long after the last fault');
  await checkRest(schedule);
}

function startCallers(schedule: Schedule, app: Schedule['apps'][number]): void {
  for (let index = 0; index < schedule.scenario.callers; index += 1) {
    schedule.call(app, () => takeLocks(new Caller(schedule, app, `c${index}`)));
  }
}

/** Some processes are shut down in good order in the middle, some start only then. */
function planRestarts(schedule: Schedule): void {
  const { scenario, random } = schedule;
  if (scenario.profile === 'calm' || !chance(random, 0.4)) return;
  schedule.after(scenario.activeMs * random.next(), () => startCallers(schedule, schedule.start('late')));
  if (!chance(random, 0.5)) return;
  const leaving = schedule.apps[random.integer(schedule.apps.length)]!;
  schedule.after(scenario.activeMs * random.next(), () => {
    if (!leaving.isRunning) return;
    leaving.isClosing = true;
    schedule.note(`${leaving.name} closes`);
    const graceMs = scenario.sessionTimeoutMs / 2;
    schedule.call(leaving, () => schedule.promises.within(leaving, 'close', graceMs + 2_000, leaving.service.close()));
  });
}

function hasOperator({ scenario: { profile } }: Schedule): boolean {
  return profile !== 'processes' && profile !== 'network' && profile !== 'servers';
}

/** Somebody with a client of his own. */
function operatorOf({ world, scenario }: Schedule, name: string): SessionClient {
  const { tickMs, sessionTimeoutMs } = scenario;
  const { clock, random } = world.process(name);
  const settings = {
    clock,
    random,
    sessionTimeoutMs,
    servers: world.servers,
    chroot: '',
    serverTickMs: tickMs,
    namespace: '',
    auth: [],
    acl: [],
  };
  return new SessionClient(settings, world.process(name).dialer());
}

/** Draws apart from all else, so that the schedules without one are what they would be if there were none at all. */
function startSurgeon(schedule: Schedule): Surgeon | undefined {
  const random = new SeededRandom(schedule.scenario.seed).fork('surgeon');
  // It needs transactions, whatever the client of the fleet.
  return chance(random, 0.35) && hasUpgrades ? new Surgeon(schedule, random) : undefined;
}
