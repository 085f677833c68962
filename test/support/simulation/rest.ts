import { DRAIN_MARKER } from '../../../lib/queue/intervention.js';
import { sessionIdText } from '../../../lib/session/session-id.js';
import { CONTAINER_OWNER } from '../../../lib/session/simulator/tree/znode.js';
import type { AppProcess } from './app-process.js';
import { codeOf } from './app-process.js';
import type { RecordDoctor } from './record-doctor.js';
import type { Schedule } from './schedule.js';
import { readName } from './queue-rules.js';

/** After the last fault and the last call nothing may be left, and every key must be to be had. */
export async function checkRest(schedule: Schedule): Promise<void> {
  const { scenario, judge, world } = schedule;
  const { sessionTimeoutMs, tickMs } = scenario;
  void schedule.operator?.close();
  await schedule.closeSurgeon();
  await schedule.runFor(sessionTimeoutMs + 4 * tickMs + 1_000);
  schedule.promises.checkAll();
  if (schedule.doctor !== undefined) await openAll(schedule, schedule.doctor);
  if (judge.violations.length > 0) return;
  if (world.leaderId === undefined) throw new Error('The simulated ensemble has no leader long after the last fault');
  checkNodes(schedule);
  for (const app of schedule.liveApps) checkProcess(schedule, app);
  if (world.watchCount > 0) judge.blame('no litter', `${world.watchCount} watches are left at the servers`);
  schedule.book.lookBack();
  if (judge.violations.length > 0) return;
  await checkLiveness(schedule);
  if (judge.violations.length > 0) return;
  await checkClose(schedule);
}

/** Keys that nobody may enter who cannot recover what was left. */
async function openAll(schedule: Schedule, doctor: RecordDoctor): Promise<void> {
  await doctor.clearAll();
  void doctor.close();
  await schedule.runFor(schedule.scenario.tickMs);
}

function checkNodes({ judge, world, scenario, apps, liveApps }: Schedule): void {
  const { nodes } = world.ensemble.server(world.leaderId!).tree;
  // Of a process that was killed nobody knows that it has begun to make one.
  const mayBeUnused = apps.some(({ isKilled }) => isKilled);
  for (const [path, node] of nodes) {
    if (path.endsWith(`/${DRAIN_MARKER}`)) judge.blame('no litter', `${path} is left`);
    if (readName(path.slice(path.lastIndexOf('/') + 1)) !== undefined) judge.blame('no litter', `${path} is left`);
    if (mayBeUnused || node.ephemeralOwner !== CONTAINER_OWNER || node.creates > 0) continue;
    // That of the heartbeats is no request's: whichever session holds something next uses it.
    if (path.endsWith('/.sessions')) continue;
    judge.blame('no litter', `${path} is a container that never had a child: no server ever removes it`);
  }
  const alive = new Set(liveApps.map((app) => app.session.identity?.id));
  for (const sessionId of world.sessions()) {
    if (!alive.has(sessionId)) judge.blame('no litter', `session ${sessionId.toString(16)} is left`);
  }
  const sessionsPath = `${scenario.namespace}/.sessions`;
  if (world.stat(sessionsPath) === undefined) return;
  for (const name of world.children(sessionsPath)) {
    const owner = world.stat(`${sessionsPath}/${name}`)!.ephemeralOwner;
    if (sessionIdText(owner) !== name) judge.blame('no litter', `${sessionsPath}/${name} belongs to ${owner}`);
  }
}

function checkProcess({ judge }: Schedule, { name, session }: AppProcess): void {
  if (session.clock.pending > 0)
    judge.blame('no litter', `${name}: ${session.clock.pending} timers of the engine are left`);
  if (session.keepers > 0)
    judge.blame('no litter', `${name}: the session is kept certain ${session.keepers} times for nobody`);
}

/** All at once, each key by each process: a queue as long as there are processes. */
async function checkLiveness(schedule: Schedule): Promise<void> {
  const { scenario, judge, liveApps } = schedule;
  const waitMs =
    scenario.sessionTimeoutMs + 3 * scenario.tickMs + scenario.lockDelayMs + (scenario.record?.atLeastMs ?? 0) + 2_000;
  for (const app of liveApps) {
    schedule.call(app, async () => {
      for (const key of scenario.keys) {
        const lock = await app.service.acquire(key, { waitMs }).catch((error: unknown) => codeOf(error));
        if (typeof lock === 'string') {
          judge.blame(
            'liveness',
            `${app.name} did not get ${key} within ${waitMs} ms, long after the last fault: ${lock}`,
          );
          return;
        }
        schedule.records.granted(lock.fencingToken, lock.abandoned);
        const grant = schedule.book.granted(app, 'at last', key, lock, {
          readsSignal: true,
          isCurious: true,
          asksForDelay: true,
        });
        schedule.book.over(grant);
        await lock.release();
      }
    });
  }
  await schedule.runUntil(() => schedule.areCallersDone);
}

async function checkClose(schedule: Schedule): Promise<void> {
  const { judge, world, apps } = schedule;
  const living = schedule.liveApps;
  for (const app of living) {
    app.isClosing = true;
    // At rest the janitor has nothing to wait for, and the servers answer.
    schedule.call(app, () => schedule.promises.within(app, 'close at rest', 500, app.service.close()));
  }
  await schedule.runUntil(() => schedule.areCallersDone);
  await schedule.runFor(100);
  if (judge.violations.length > 0) return;
  schedule.promises.checkAll();
  const sessions = world.sessions().length;
  if (sessions > 0) judge.blame('no litter', `${sessions} sessions are left after the last close`);
  for (const { isKilled, name, sessionClock, session, machine } of apps) {
    if (isKilled) continue;
    const timers = sessionClock.pending + session.clock.pending;
    if (timers > 0) judge.blame('no litter', `${name}: ${timers} timers are left after close`);
    if (machine.connectedTo.length > 0) judge.blame('no litter', `${name}: a connection is left after close`);
  }
}
