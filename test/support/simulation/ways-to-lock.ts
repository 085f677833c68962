import type { AcquireOptions } from '../../../lib/lock/acquire-options.js';
import type { LockHandle } from '../../../lib/lock/handle.js';
import type { LockMode } from '../../../lib/lock/mode.js';
import { hasUpgrades } from './client-under-test.js';
import type { Caller } from './caller.js';
import { OwnError } from './record-calls.js';
import { chance, pick } from './scenario.js';

const MODES: readonly LockMode[] = [
  'exclusive',
  'exclusive',
  'write',
  'read',
  'read',
  hasUpgrades ? 'upgradeable' : 'write',
];
const LOST_OR_USUAL = ['LOCK_TIMEOUT', 'LOCK_UNAVAILABLE', 'LOCK_ABORTED', 'LOCK_CLOSED', 'LOCK_LOST'];

async function acquire(caller: Caller): Promise<void> {
  const key = caller.someKey();
  const mode = pick(caller.random, MODES);
  const grant = await caller.take(key, `acquire ${mode}`, caller.wait({ mode }, { key }), (options) =>
    caller.app.service.acquire(key, options),
  );
  if (grant === undefined) return;
  await caller.work(grant);
  if (mode === 'upgradeable' && chance(caller.random, 0.7)) {
    await upgrade(caller, grant.lock);
    await caller.work(grant);
  }
  await caller.release(grant);
}

async function upgrade(caller: Caller, lock: LockHandle): Promise<void> {
  const { options, waitMs, done } = caller.wait();
  const { signal } = options;
  const upgradeOptions = signal === undefined ? { waitMs } : { waitMs, signal };
  const text = `${caller.name} upgrade ${lock.nodePath}`;
  try {
    caller.schedule.records.upgrades(lock.fencingToken);
    await caller.schedule.promises.within(caller.app, text, waitMs, lock.upgrade(upgradeOptions));
    caller.schedule.records.upgraded(lock.fencingToken, lock.abandoned);
    caller.schedule.book.lockDelays.upgraded(caller.schedule.queuePath(lock.key));
    caller.schedule.note(`${caller.app.name} ${text} done`);
  } catch (error) {
    caller.expect(error, text, LOST_OR_USUAL);
  } finally {
    done();
  }
}

async function tryAcquire(caller: Caller): Promise<void> {
  const key = caller.someKey();
  const mode = pick(caller.random, MODES);
  const grant = await caller.take(key, `tryAcquire ${mode}`, caller.wait({ mode }, { key, tries: true }), (options) =>
    caller.app.service.tryAcquire(key, options),
  );
  if (grant === undefined) return;
  await caller.work(grant);
  await caller.release(grant);
}

async function lease(caller: Caller): Promise<void> {
  const key = caller.someKey();
  const leaseMs = 20 + 300 * caller.random.next();
  const grant = await caller.take(key, 'lease', caller.wait({ leaseMs }, { key }), (options) =>
    caller.app.service.acquire(key, options),
  );
  if (grant === undefined) return;
  for (let left = caller.random.integer(4); left > 0; left -= 1) {
    await caller.app.sleep(leaseMs * 1.1 * caller.random.next());
    try {
      grant.lock.extend(leaseMs);
    } catch (error) {
      caller.expect(error, 'extend', ['LOCK_LOST']);
      break;
    }
  }
  await caller.work(grant);
  await caller.release(grant);
}

async function withLock(caller: Caller): Promise<void> {
  const { app, schedule, random } = caller;
  const key = caller.someKey();
  const mode = pick(random, MODES);
  const wait = caller.wait({ mode }, { key });
  const own = chance(random, 0.1) ? new OwnError('of the application') : undefined;
  let began = false;
  try {
    await app.service.withLock(
      key,
      async (lock) => {
        began = true;
        const workIsOver = schedule.begins(app);
        const grant = caller.granted(key, lock);
        try {
          await caller.work(grant);
          if (chance(random, 0.6)) await reenter(caller, key, mode);
          if (own !== undefined) throw own;
        } finally {
          schedule.book.over(grant);
          workIsOver();
        }
      },
      wait.options,
    );
  } catch (error) {
    if (error !== own)
      caller.expect(error, `withLock ${key}`, began ? [...LOST_OR_USUAL] : LOST_OR_USUAL.slice(0, 4), wait);
  } finally {
    wait.done();
  }
}

/** Inside a lock: another call for the same key, that must share it and not wait for itself. */
async function reenter(caller: Caller, key: string, around: LockMode): Promise<void> {
  const mode: LockMode =
    around === 'read' || around === 'upgradeable' ? 'read' : pick(caller.random, ['exclusive', 'read']);
  const { app } = caller;
  const options: AcquireOptions = { mode, waitMs: 3 * caller.schedule.scenario.sessionTimeoutMs };
  const wait = { options, waitMs: options.waitMs! };
  try {
    const ask = (): Promise<LockHandle> => app.service.acquire(key, options);
    const inner = await caller.schedule.promises.within(app, `${caller.name} re-entry of ${key}`, wait.waitMs, ask());
    const grant = caller.granted(key, inner);
    await app.sleep(5 * caller.random.next());
    await caller.release(grant);
  } catch (error) {
    caller.expect(error, 're-entry', LOST_OR_USUAL);
  }
}

async function acquireAll(caller: Caller): Promise<void> {
  const { app, schedule, random } = caller;
  const keys = schedule.scenario.keys
    .filter(() => chance(random, 0.7))
    .map((key) => ({ key, mode: pick(random, MODES) }));
  if (keys.length === 0) return;
  const { options, waitMs, done } = caller.wait();
  const over = caller.asksSeveral(keys.map(({ key }) => key));
  const text = `${caller.name} acquireAll ${keys.map(({ key }) => key).join(',')}`;
  try {
    const multi = await schedule.promises.within(app, text, waitMs, app.service.acquireAll(keys, options));
    const grants = multi.locks.map((lock) => caller.granted(lock.key, lock, multi));
    await caller.work(...grants);
    for (const grant of grants) schedule.book.over(grant);
    await schedule.promises.within(app, `${text} release`, schedule.scenario.waitMs, multi.release());
  } catch (error) {
    caller.expect(error, text, LOST_OR_USUAL);
  } finally {
    over();
    done();
  }
}

async function transaction(caller: Caller): Promise<void> {
  const { app, schedule, random } = caller;
  const keys = schedule.scenario.keys.filter(() => chance(random, 0.7));
  if (chance(random, 0.5)) keys.reverse();
  const over = caller.asksSeveral(keys);
  try {
    await app.service.transaction(async (tx) => {
      const workIsOver = schedule.begins(app);
      const grants = [];
      try {
        for (const key of keys) {
          grants.push(caller.granted(key, await tx.lock(key, pick(random, ['exclusive', 'write']))));
          await app.sleep(10 * random.next());
        }
        await caller.work(...grants);
      } finally {
        for (const grant of grants) schedule.book.over(grant);
        workIsOver();
      }
    });
  } catch (error) {
    caller.expect(error, `transaction ${keys.join(',')}`, [...LOST_OR_USUAL, 'DEADLOCK']);
  } finally {
    over();
  }
}

async function inspect(caller: Caller): Promise<void> {
  const { app, schedule } = caller;
  const key = caller.someKey();
  try {
    await schedule.promises.within(app, `inspect ${key}`, schedule.scenario.waitMs, app.service.inspect(key));
  } catch (error) {
    caller.expect(error, `inspect ${key}`, LOST_OR_USUAL);
  }
}

async function watch(caller: Caller): Promise<void> {
  const { app, schedule, random } = caller;
  const key = caller.someKey();
  schedule.tap.observedKeys.add(schedule.queuePath(key));
  const subscription = app.service.watch(key).subscribe({
    error: (error: unknown) => caller.expect(error, `watch ${key}`, LOST_OR_USUAL),
  });
  await app.sleep(schedule.scenario.sessionTimeoutMs * random.next());
  subscription.unsubscribe();
}

const WAYS: readonly ((caller: Caller) => Promise<void>)[] = [
  acquire,
  acquire,
  acquire,
  acquire,
  tryAcquire,
  lease,
  withLock,
  withLock,
  acquireAll,
  transaction,
  inspect,
  watch,
];

/** Takes one lock after the other, in all the ways there are, until the schedule is quiet. */
export async function takeLocks(caller: Caller): Promise<void> {
  const { schedule, app, random } = caller;
  const { sessionTimeoutMs } = schedule.scenario;
  const isEager = chance(random, 0.5);
  while (!schedule.isQuiet && !app.isClosing) {
    await app.sleep((isEager ? 20 : sessionTimeoutMs) * random.next());
    if (schedule.isQuiet || app.isClosing) return;
    await pick(random, WAYS)(caller);
  }
}
