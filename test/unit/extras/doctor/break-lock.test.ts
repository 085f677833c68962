import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LockBrokenError } from '../../../../lib/lock/intervention-errors.js';
import { LockLostError, StaleFencingTokenError } from '../../../../lib/lock/errors.js';
import type { LockHandle } from '../../../../lib/lock/handle.js';
import { create, get, set } from '../../../../lib/session/requests.js';
import { LockDoctor } from '../../../../lib/extras/doctor/lock-doctor.js';
import { replyTo } from '../../../support/sessions/reply-to.js';
import { useEngine } from '../../engine/support/use-engine.js';

const KEY = '/locks/a';
const WHY = { by: 'ada', reason: 'stuck since noon' };
/** Longer than anything here takes, unless the grace is waited for. */
const GRACE_MS = 3_000;
/** A hold that is this old has the servers watch its node. */
const WATCHED_AFTER_MS = 300;
/** What a holder that is up is told within. */
const TOLD_MS = 500;

describe('break', () => {
  const { engine, one, other, operator } = useEngine('one', 'other', 'operator');
  let doctor: LockDoctor;
  let lines: string[];

  beforeEach(() => {
    lines = [];
    const log = (line: string): void => void lines.push(line);
    doctor = new LockDoctor(operator.locks, { log, warn: log });
  });

  afterEach(() => {
    // What was broken leaves no timer, watch or node behind.
    expect(engine.queue(KEY).filter((name) => name.includes('lock'))).toEqual([]);
  });

  const hold = (mode: 'exclusive' | 'upgradeable' | 'read' = 'exclusive'): Promise<LockHandle> =>
    engine.settle(one.locks.acquire(KEY, { mode }));
  const breakIt = (lock: LockHandle, graceMs = GRACE_MS) =>
    doctor.break(KEY, { token: lock.fencingToken, ...WHY, graceMs });
  /** Waits for a lock, and gives it back. */
  const leave = async (waiting: Promise<LockHandle>, withinMs = TOLD_MS): Promise<void> => {
    const lock = await engine.settle(waiting, withinMs);
    await engine.settle(lock.release());
  };
  const tokenOfFirst = (): bigint => {
    const acquired = one.events.find((event) => event.type === 'acquired');
    return acquired?.token ?? 0n;
  };
  const losses = () => one.events.filter(({ type }) => type === 'lost');

  it('tells the holder who and why, and the next enters only when its work has ended', async () => {
    const steps: string[] = [];
    let loss: unknown;
    const work = one.locks.withLock(KEY, async (lock) => {
      await new Promise((resolve) => lock.signal.addEventListener('abort', resolve));
      steps.push(`told, held: ${lock.isHeld()}`);
      loss = lock.signal.reason;
      await one.sleep(1_000);
      steps.push('put right');
    });
    await engine.runUntil(() => one.events.some(({ type }) => type === 'acquired'));
    await engine.runFor(WATCHED_AFTER_MS);
    const next = other.locks.acquire(KEY).then((lock) => {
      steps.push('next enters');
      return lock;
    });
    const token = tokenOfFirst();
    const broken = doctor.break(KEY, { token, ...WHY, graceMs: GRACE_MS });

    const failure = await engine.failure(work, TOLD_MS);
    expect(failure).toBeInstanceOf(LockBrokenError);
    expect(failure).toBeInstanceOf(LockLostError);
    expect(failure).toMatchObject({ code: 'LOCK_BROKEN', status: 503, key: KEY, ...WHY });
    expect(failure.details).toContain('by ada: stuck since noon');
    expect(loss).toBe(failure);

    expect(await engine.settle(broken)).toMatchObject({ key: KEY, token, ended: 'in order' });
    await leave(next);
    expect(steps).toEqual(['told, held: false', 'put right', 'next enters']);
    expect(one.events.map(({ type }) => type)).not.toContain('late-result');
    expect(losses()).toMatchObject([{ reason: 'broken', token, error: { code: 'LOCK_BROKEN' } }]);
    expect(lines).toEqual([
      `Break of ${KEY} (token ${token}): begun by ada (stuck since noon)`,
      expect.stringMatching(/the holder is gone, in order, after \d+ ms$/),
    ]);
  });

  it('keeps the neighbours of the holder out, too, until its work has ended', async () => {
    const lock = await hold();
    const steps: string[] = [];
    const neighbour = one.locks.acquire(KEY).then((next) => {
      steps.push('neighbour enters');
      return next;
    });
    await engine.runFor(WATCHED_AFTER_MS);
    const broken = breakIt(lock);
    await engine.runUntil(() => !lock.isHeld(), TOLD_MS);
    await engine.runFor(GRACE_MS / 2);
    steps.push('released');
    await engine.settle(lock.release());
    expect(await engine.settle(broken)).toMatchObject({ ended: 'in order' });
    await leave(neighbour);
    expect(steps).toEqual(['released', 'neighbour enters']);
  });

  it('removes by force, after the grace, what does not end: the next enters, neighbours too', async () => {
    const lock = await hold();
    const neighbour = one.locks.acquire(KEY);
    const next = other.locks.acquire(KEY);
    await engine.runFor(WATCHED_AFTER_MS);
    const broken = breakIt(lock);
    await engine.runFor(GRACE_MS - 100);
    expect(engine.queue(KEY)).toHaveLength(3);
    expect(await engine.settle(broken, 1_000)).toMatchObject({ ended: 'removed by force' });
    await leave(neighbour);
    await leave(next);
    await engine.settle(lock.release());
    expect(losses()).toHaveLength(1);
  });

  it.each([
    ['fails while it puts right what is half done', 500, new Error('cannot undo'), 'in order'],
    ['goes on behind the grace', GRACE_MS + 500, undefined, 'removed by force'],
  ])('tells of work that %s', async (_what, goesOnMs, failure, ended) => {
    const work = one.locks.withLock(KEY, async (lock) => {
      await new Promise((resolve) => lock.signal.addEventListener('abort', resolve));
      await one.sleep(goesOnMs);
      if (failure !== undefined) throw failure;
    });
    await engine.runFor(WATCHED_AFTER_MS);
    const broken = doctor.break(KEY, { token: tokenOfFirst(), ...WHY, graceMs: GRACE_MS });
    expect(await engine.failure(work, TOLD_MS)).toBeInstanceOf(LockBrokenError);
    expect(await engine.settle(broken)).toMatchObject({ ended });
    await engine.runFor(1_000);
    expect(one.events.filter(({ type }) => type === 'late-result')).toMatchObject([{ error: failure }]);
  });

  it('is told, in the first 250 ms of a hold, when these are over', async () => {
    const lock = await hold();
    const broken = breakIt(lock);
    await engine.runUntil(() => !lock.isHeld(), WATCHED_AFTER_MS + 50);
    expect(losses()).toMatchObject([{ reason: 'broken' }]);
    await engine.settle(lock.release());
    expect(await engine.settle(broken)).toMatchObject({ ended: 'in order' });
  });

  it('is told, while the link of the holder is down, when it is back', async () => {
    const lock = await hold();
    await engine.runFor(WATCHED_AFTER_MS);
    engine.faults.refuse(one.process);
    await engine.runUntil(() => one.session.state === 'suspended');
    const broken = breakIt(lock, 20_000);
    await engine.runFor(500);
    expect(lock.isHeld()).toBe(true);
    engine.faults.accept(one.process);
    await engine.runUntil(() => one.session.state === 'reconnected');
    await engine.runUntil(() => !lock.isHeld(), TOLD_MS);
    expect(losses()).toMatchObject([{ reason: 'broken' }]);
    await engine.settle(lock.release());
    expect(await engine.settle(broken)).toMatchObject({ ended: 'in order' });
  });

  it('removes the node by force where the link goes right after it was told, and leaves no leftover', async () => {
    const lock = await hold();
    await engine.runFor(WATCHED_AFTER_MS);
    const broken = breakIt(lock);
    await engine.runUntil(() => !lock.isHeld(), TOLD_MS);
    engine.faults.refuse(one.process);
    await engine.runUntil(() => one.session.state === 'suspended');
    expect(await engine.settle(broken)).toMatchObject({ ended: 'removed by force' });
    const neighbour = one.locks.acquire(KEY, { waitMs: 20_000 });
    engine.faults.accept(one.process);
    await leave(neighbour, 20_000);
    await engine.settle(lock.release());
  });

  it('takes both nodes of an upgraded lock, in order and by force', async () => {
    for (const [ends, ended] of [
      [true, 'in order'],
      [false, 'removed by force'],
    ] as const) {
      const lock = await hold('upgradeable');
      await engine.settle(lock.upgrade());
      await engine.runFor(WATCHED_AFTER_MS);
      const broken = breakIt(lock);
      await engine.runUntil(() => !lock.isHeld(), TOLD_MS);
      expect(engine.queue(KEY)).toHaveLength(2);
      if (ends) await engine.settle(lock.release());
      expect(await engine.settle(broken)).toMatchObject({ ended });
      expect(engine.queue(KEY)).toEqual([]);
      await engine.settle(lock.release());
    }
  });

  it('leaves the other readers alone where it breaks one', async () => {
    const reader = await hold('read');
    const beside = await engine.settle(other.locks.acquire(KEY, { mode: 'read' }));
    await engine.runFor(WATCHED_AFTER_MS);
    const broken = breakIt(reader);
    await engine.runUntil(() => !reader.isHeld(), TOLD_MS);
    await engine.settle(reader.release());
    expect(await engine.settle(broken)).toMatchObject({ ended: 'in order' });
    expect(beside.isHeld()).toBe(true);
    await engine.settle(beside.release());
  });

  it('waits for the outermost call where a lock was re-entered', async () => {
    const steps: string[] = [];
    let token = 0n;
    const outer = one.locks.withLock(KEY, async (lock) => {
      token = lock.fencingToken;
      await one.locks
        .withLock(KEY, async (inner) => {
          await new Promise((resolve) => inner.signal.addEventListener('abort', resolve));
          await one.sleep(200);
          steps.push('inner ends');
        })
        .catch((error: LockLostError) => steps.push(error.code));
      await one.sleep(600);
      steps.push('outer ends');
    });
    await engine.runFor(WATCHED_AFTER_MS);
    const broken = doctor.break(KEY, { token, ...WHY, graceMs: GRACE_MS }).then(({ ended }) => steps.push(ended));
    expect(await engine.failure(outer, TOLD_MS)).toMatchObject({ code: 'LOCK_BROKEN' });
    await engine.settle(broken);
    expect(steps).toEqual(['LOCK_BROKEN', 'inner ends', 'outer ends', 'in order']);
  });

  it('tells a call that enters the broken lock anew the same', async () => {
    let inside: unknown;
    const work = one.locks.withLock(KEY, async (lock) => {
      await new Promise((resolve) => lock.signal.addEventListener('abort', resolve));
      inside = await one.locks.acquire(KEY).catch((error: unknown) => error);
    });
    await engine.runFor(WATCHED_AFTER_MS);
    const token = tokenOfFirst();
    const broken = doctor.break(KEY, { token, ...WHY, graceMs: GRACE_MS });
    await engine.failure(work);
    expect(await engine.settle(broken)).toMatchObject({ ended: 'in order' });
    expect(inside).toBeInstanceOf(LockBrokenError);
  });

  it('tells all where it breaks one of several locks, and keeps all closed until they are released', async () => {
    const multi = await engine.settle(one.locks.acquireAll(['/locks/b', KEY]));
    await engine.runFor(WATCHED_AFTER_MS);
    const beside = other.locks.acquire('/locks/b');
    const broken = doctor.break(KEY, { token: multi.fencingToken(KEY), ...WHY, graceMs: GRACE_MS });
    await engine.runUntil(() => multi.signal.aborted, TOLD_MS);
    expect(multi.signal.reason).toMatchObject({ code: 'LOCK_BROKEN', ...WHY });
    expect(multi.isHeld()).toBe(false);
    await engine.runFor(GRACE_MS / 2);
    expect(engine.queue(KEY)).toHaveLength(1);
    expect(engine.queue('/locks/b')).toHaveLength(2);
    await engine.settle(multi.release());
    expect(await engine.settle(broken)).toMatchObject({ ended: 'in order' });
    await leave(beside);
  });

  it('keeps all locks of a transaction until its work has ended', async () => {
    let token = 0n;
    const steps: string[] = [];
    const transaction = one.locks.transaction(async (tx) => {
      await tx.lock('/locks/b');
      token = (await tx.lock(KEY)).fencingToken;
      await new Promise((resolve) => tx.signal.addEventListener('abort', resolve));
      await one.sleep(1_000);
      steps.push('work ends');
    });
    await engine.runFor(WATCHED_AFTER_MS);
    const beside = other.locks.acquire('/locks/b').then((lock) => {
      steps.push('beside enters');
      return lock;
    });
    const broken = doctor.break(KEY, { token, ...WHY, graceMs: GRACE_MS });
    expect(await engine.failure(transaction, TOLD_MS)).toMatchObject({ code: 'LOCK_BROKEN' });
    expect(await engine.settle(broken)).toMatchObject({ ended: 'in order' });
    await leave(beside);
    expect(steps).toEqual(['work ends', 'beside enters']);
  });

  it('is refused with the token of another holder, names the one there is, and writes nothing', async () => {
    const before = await hold();
    await engine.settle(before.release());
    const lock = await hold();
    await engine.runFor(WATCHED_AFTER_MS);
    const seen = (await engine.settle(replyTo(operator.session, get(lock.nodePath)))).stat;
    const error = await engine.failure(breakIt(before));
    expect(error).toBeInstanceOf(StaleFencingTokenError);
    expect(error.details).toContain(`token ${lock.fencingToken} (`);
    expect((await engine.settle(replyTo(operator.session, get(lock.nodePath)))).stat).toEqual(seen);
    expect(lock.isHeld()).toBe(true);
    expect(lines.at(-1)).toContain('not done');
    await engine.settle(lock.release());
    const nobody = await engine.failure(breakIt(lock));
    expect(nobody.details).toContain('Nobody holds it now');
  });

  it('leaves the data of another make as it is, and removes that holder by force', async () => {
    const path = `${KEY}/_c_11111111-1111-4111-a111-111111111111-lock-0000000000`;
    await engine.settle((await hold()).release());
    const data = Buffer.from('192.0.2.7');
    const { stat } = await engine.settle(replyTo(operator.session, create(path, 'ephemeral', data)));
    const next = other.locks.acquire(KEY);
    const broken = doctor.break(KEY, { token: stat.czxid, ...WHY, graceMs: 500 });
    await engine.runFor(200);
    const found = await engine.settle(replyTo(operator.session, get(path)));
    expect(Buffer.from(found.data)).toEqual(data);
    expect(await engine.settle(broken)).toMatchObject({ ended: 'removed by force', nodePath: path });
    await leave(next);
  });

  it.each(['{"breaking":{"by":"x"}}', '{"breaking":7}', '{"breaking":{"by":"","reason":"","at":1}}', 'breaking'])(
    'takes no other data of a node for one: %s',
    async (text) => {
      const lock = await hold();
      await engine.runFor(WATCHED_AFTER_MS);
      await engine.settle(replyTo(operator.session, set(lock.nodePath, Buffer.from(text))));
      await engine.runFor(500);
      expect(lock.isHeld()).toBe(true);
      await engine.settle(lock.release());
    },
  );

  it('is carried out once where its answers are lost', async () => {
    const lock = await hold();
    await engine.runFor(WATCHED_AFTER_MS);
    engine.faults.loseReplyOfNext(operator.process, 'set');
    const broken = breakIt(lock, 20_000);
    await engine.runUntil(() => !lock.isHeld(), 5_000);
    await engine.settle(lock.release());
    expect(await engine.settle(broken)).toMatchObject({ ended: 'in order' });

    const again = await hold();
    await engine.runFor(WATCHED_AFTER_MS);
    engine.faults.loseReplyOfNext(operator.process, 'multi');
    expect(await engine.settle(breakIt(again))).toMatchObject({ ended: 'removed by force' });
    await engine.settle(again.release());
  });

  it('is waited for by the close of the service, which ends its node at the end of the grace', async () => {
    const lock = await hold();
    await engine.runFor(WATCHED_AFTER_MS);
    const broken = breakIt(lock, 10_000);
    await engine.runUntil(() => !lock.isHeld(), TOLD_MS);
    const closed = one.locks.close(2_000);
    await engine.runFor(1_000);
    expect(engine.queue(KEY)).toHaveLength(1);
    await engine.settle(closed, 2_000);
    expect(await engine.settle(broken)).toMatchObject({ ended: 'in order' });
  });

  it.each([
    [{ by: '', reason: 'x' }, 'by: must be a text of 1 to 200 characters'],
    [{ by: 'ada', reason: ' ' }, 'reason: must be'],
    [{ by: 'ada', reason: 'x'.repeat(201) }, 'reason: must be'],
    [{ by: 'ada', reason: 'x', graceMs: -1 }, 'graceMs: must be'],
    [{ by: 'ada', reason: 'x', token: '12' }, 'token: must be a token as a bigint'],
    [{ by: 'ada', reason: 'x', garceMs: 5 }, 'Did you mean graceMs'],
  ])('refuses %j before any write', async (options, text) => {
    const error = await engine.failure(doctor.break(KEY, { token: 1n, ...options } as never));
    expect(error).toMatchObject({ code: 'LOCK_CONFIGURATION', key: KEY, details: expect.stringContaining(text) });
  });

  it('tells of what was done, in JSON, too', async () => {
    const events: unknown[] = [];
    doctor.events$.subscribe((event) => events.push(JSON.parse(JSON.stringify(event))));
    const lock = await hold();
    const broken = breakIt(lock, 0);
    const result = await engine.settle(broken);
    expect(JSON.parse(JSON.stringify(result))).toEqual({
      key: KEY,
      token: `${lock.fencingToken}`,
      nodePath: lock.nodePath,
      ended: 'removed by force',
      tookMs: expect.any(Number),
    });
    expect(events).toEqual([
      {
        type: 'broken',
        key: KEY,
        ...WHY,
        token: `${lock.fencingToken}`,
        outcome: 'removed by force',
        at: expect.stringMatching(/^\d{4}-/),
      },
    ]);
    await engine.settle(lock.release());
  });
});
