import { isUp } from '../../../lib/session/connection-state.js';
import { remove } from '../../../lib/session/requests.js';
import type { AcquireOptions } from '../../../lib/lock/acquire-options.js';
import type { AppProcess } from './app-process.js';
import { Caller } from './caller.js';
import type { Schedule } from './schedule.js';

const KEY = '/locks/a';
/** Everything that was sent has been answered. */
const SETTLED_MS = 100;

/** Waits for the lock, holds it until `end`, and gives it back. */
function holdUntil(
  schedule: Schedule,
  app: AppProcess,
  name: string,
  options: AcquireOptions,
  end: Promise<void>,
): void {
  const caller = new Caller(schedule, app, name);
  schedule.call(app, async () => {
    const grant = caller.granted(KEY, await app.service.acquire(KEY, options));
    await end;
    await caller.release(grant);
  });
}

function latch(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** One of a process holds, another of it waits behind, and one of another process behind both. */
async function standThree(schedule: Schedule, first: AcquireOptions): Promise<() => void> {
  const { apps, scenario } = schedule;
  const [process, other] = apps as [AppProcess, AppProcess];
  const held = latch();
  const long = scenario.sessionTimeoutMs / 2;
  holdUntil(schedule, process, 'first', first, held.opened);
  await schedule.runFor(SETTLED_MS);
  holdUntil(schedule, process, 'next', {}, process.sleep(long));
  await schedule.runFor(SETTLED_MS);
  holdUntil(schedule, other, 'other', {}, Promise.resolve());
  await schedule.runFor(SETTLED_MS);
  return held.open;
}

/**
 * An operator removes the node of one that waits behind a neighbour, about when that gives its lock back: nobody watches it.
 * Where the lock was handed over before anybody knew, it must be lost before the node in front of it goes.
 */
export async function removedBehindItsNeighbour(schedule: Schedule): Promise<void> {
  await removeNext(schedule, {}, () => undefined);
}

/** The same, and the transaction that gives the lock back is lost with the link: it is guarded the second time, too. */
export async function removedBehindItsNeighbourWhoseRemovalIsLost(schedule: Schedule): Promise<void> {
  const [process] = schedule.apps as [AppProcess];
  await removeNext(schedule, {}, () => void schedule.world.faults.loseNextRequest(process.machine, 'multi'));
}

/** The same behind a reader, whose node keeps no other reader out: it covers nobody. */
export async function removedBehindAReader(schedule: Schedule): Promise<void> {
  await removeNext(schedule, { mode: 'read' }, () => undefined);
}

/** The same, when the leader has removed that node already: a follower that lags still shows it. */
export async function removedBehindAReaderUnseen(schedule: Schedule): Promise<void> {
  await removeNext(
    schedule,
    { mode: 'read' },
    () => undefined,
    (path) => schedule.runUntil(() => schedule.book.truth.entry(path) === undefined),
  );
}

async function removeNext(
  schedule: Schedule,
  first: AcquireOptions,
  prepare: () => void,
  untilRemoved: (path: string) => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  const { apps, book, scenario } = schedule;
  const operator = apps[2]!;
  const release = await standThree(schedule, first);
  const path = book.truth.paths[1]!;
  book.excusePath(path);
  prepare();
  void operator.session.batch([remove(path)]);
  await untilRemoved(path);
  await schedule.runFor(scenario.seed * 0.1);
  release();
  await schedule.runFor(2 * scenario.sessionTimeoutMs);
}

/**
 * An operator removes the node of one that has just come behind a neighbour, and that gives its lock back. What the newcomer
 * reads of the queue is from a follower that lags: it shows both nodes, and is answered when the lock is free.
 */
export async function removedBehindItsNeighbourUnseen(schedule: Schedule): Promise<void> {
  const { apps, book, scenario } = schedule;
  const [process, other, operator] = apps as [AppProcess, AppProcess, AppProcess];
  await connectToFollower(schedule, process);
  const held = latch();
  holdUntil(schedule, process, 'first', {}, held.opened);
  await schedule.runFor(SETTLED_MS);
  holdUntil(schedule, process, 'next', {}, process.sleep(scenario.sessionTimeoutMs / 2));
  await schedule.runUntil(() => book.truth.paths.length > 1);
  const path = book.truth.paths[1]!;
  book.excusePath(path);
  holdUntil(schedule, other, 'other', {}, Promise.resolve());
  void operator.session.batch([remove(path)]);
  await schedule.runFor(50 + scenario.seed);
  held.open();
  await schedule.runFor(2 * scenario.sessionTimeoutMs);
}

async function connectToFollower(schedule: Schedule, process: AppProcess): Promise<void> {
  while (process.machine.connectedTo[0] === schedule.world.leaderId) {
    schedule.world.faults.suspend(process.machine);
    await schedule.runFor(SETTLED_MS);
  }
}

/**
 * A reader waits behind a neighbour that waits for an upgrader. The neighbour gives up while the upgrader puts up its intent and asks
 * who is inside: it takes the reader for one that waits, as the neighbour's node is still there, or finds it behind no writer. The
 * reader's list is answered by a follower that lags: neither the intent nor the removal need be carried out there.
 */
export async function givesUpWhileAnUpgraderAsks(schedule: Schedule): Promise<void> {
  const { apps, scenario } = schedule;
  const [process, other] = apps as [AppProcess, AppProcess];
  await connectToFollower(schedule, process);
  const waitMs = 10 * SETTLED_MS;
  const upgrader = new Caller(schedule, other, 'upgrader');
  schedule.call(other, async () => {
    const grant = upgrader.granted(KEY, await other.service.acquire(KEY, { mode: 'upgradeable' }));
    await other.sleep(waitMs - SETTLED_MS + scenario.seed * 3);
    await grant.lock.upgrade();
    await other.sleep(scenario.sessionTimeoutMs / 2);
    await upgrader.release(grant);
  });
  await schedule.runFor(SETTLED_MS);
  schedule.call(process, async () => {
    await process.service.acquire(KEY, { waitMs }).catch(() => undefined);
  });
  await schedule.runFor(SETTLED_MS);
  holdUntil(schedule, process, 'reader', { mode: 'read' }, process.sleep(scenario.sessionTimeoutMs));
  await schedule.runFor(4 * scenario.sessionTimeoutMs);
}

/**
 * Three readers are let in behind a neighbour, and an operator removes the nodes of two, one after the other: the removal of
 * the neighbour's node takes several tries. An upgrader that has come meanwhile asks who is inside.
 */
export async function upgradesBehindItsNeighbour(schedule: Schedule): Promise<void> {
  const { apps, book, scenario } = schedule;
  const [process, , operator] = apps as [AppProcess, AppProcess, AppProcess];
  const held = latch();
  holdUntil(schedule, process, 'first', {}, held.opened);
  await schedule.runFor(SETTLED_MS);
  for (const name of ['removed first', 'removed then', 'reader']) {
    holdUntil(schedule, process, name, { mode: 'read' }, process.sleep(scenario.sessionTimeoutMs));
    await schedule.runFor(SETTLED_MS);
  }
  const [, removedFirst, removedThen] = book.truth.paths as [string, string, string];
  for (const path of [removedFirst, removedThen]) book.excusePath(path);
  void operator.session.batch([remove(removedFirst)]);
  // It has not been told of yet.
  await schedule.runFor(0.5);
  const upgrader = new Caller(schedule, process, 'upgrader');
  schedule.call(process, async () => {
    const grant = upgrader.granted(KEY, await process.service.acquire(KEY, { mode: 'upgradeable' }));
    await grant.lock.upgrade();
    await process.sleep(SETTLED_MS);
    await upgrader.release(grant);
  });
  held.open();
  await schedule.runFor(scenario.seed * 0.2);
  void operator.session.batch([remove(removedThen)]);
  await schedule.runFor(2 * scenario.sessionTimeoutMs);
}

/**
 * The session of a process ends while some of it wait behind one of another process: they queue again, and their turn comes.
 * One of them has given its lock back without a link just before, so that its node stayed until the session ended.
 */
export async function queuesAgainInANewSession(schedule: Schedule): Promise<void> {
  const { apps, world, book, judge, scenario } = schedule;
  const [process, other] = apps as [AppProcess, AppProcess];
  const [held, next] = [latch(), latch()];
  holdUntil(schedule, process, 'first', {}, held.opened);
  await schedule.runFor(SETTLED_MS);
  holdUntil(schedule, other, 'other', {}, next.opened);
  await schedule.runFor(SETTLED_MS);
  let entered = 0;
  for (const name of ['second', 'third']) {
    const caller = new Caller(schedule, process, name);
    schedule.call(process, async () => {
      const grant = caller.granted(KEY, await process.service.acquire(KEY, { waitMs: 20 * scenario.sessionTimeoutMs }));
      entered += 1;
      await caller.release(grant);
    });
  }
  await schedule.runFor(SETTLED_MS);
  const { identity } = process.session;
  world.faults.refuse(process.machine);
  await schedule.runFor(scenario.seed * 2);
  held.open();
  book.excuseSession(identity!.id);
  world.faults.expire(identity!.id);
  await schedule.runFor(SETTLED_MS);
  world.faults.accept(process.machine);
  await schedule.runUntil(() => process.session.identity !== identity && isUp(process.session.state));
  next.open();
  await schedule.runFor(2 * scenario.sessionTimeoutMs);
  if (entered < 2) judge.blame('liveness', `${2 - entered} that waited when the session ended do not enter`);
}

/** The link goes while it is being found out for whom to wait, and comes back: what was asked then is asked again. */
export async function itsLinkGoesWhileItBeginsToWait(schedule: Schedule): Promise<void> {
  const { apps, world, judge, scenario } = schedule;
  const [process, other] = apps as [AppProcess, AppProcess];
  const held = latch();
  holdUntil(schedule, other, 'other', {}, held.opened);
  await schedule.runFor(SETTLED_MS);
  let entered = 0;
  for (const name of ['first', 'second']) {
    const caller = new Caller(schedule, process, name);
    schedule.call(process, async () => {
      const grant = caller.granted(KEY, await process.service.acquire(KEY, { waitMs: 20 * scenario.sessionTimeoutMs }));
      entered += 1;
      await caller.release(grant);
    });
  }
  await schedule.runFor(scenario.seed * 0.25);
  world.faults.suspend(process.machine);
  await schedule.runFor(scenario.sessionTimeoutMs / 2);
  held.open();
  await schedule.runFor(2 * scenario.sessionTimeoutMs);
  if (entered < 2) judge.blame('liveness', `${2 - entered} that waited when the link went do not enter`);
}
