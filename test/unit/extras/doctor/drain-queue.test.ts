import { beforeEach, describe, expect, it } from '@jest/globals';
import { LockDoctor } from '../../../../lib/extras/doctor/lock-doctor.js';
import type { LockHandle } from '../../../../lib/lock/handle.js';
import { LockDrainedError } from '../../../../lib/lock/intervention-errors.js';
import type { LockMode } from '../../../../lib/lock/mode.js';
import { create } from '../../../../lib/session/requests.js';
import { replyTo } from '../../../support/sessions/reply-to.js';
import { type Client, type Failure, rejection } from '../../engine/support/engine-world.js';
import { useEngine } from '../../engine/support/use-engine.js';

const KEY = '/locks/a';
const WHY = { by: 'ada', reason: 'the queue is of no use any more' };
const GRACE_MS = 2_000;
/** What a waiter that is up is told within. */
const TOLD_MS = 500;

describe('drain', () => {
  const { engine, one, other, third, operator } = useEngine('one', 'other', 'third', 'operator');
  let doctor: LockDoctor;

  beforeEach(() => {
    doctor = new LockDoctor(operator.locks);
  });

  const hold = (mode: LockMode = 'exclusive'): Promise<LockHandle> => engine.settle(one.locks.acquire(KEY, { mode }));
  const drain = (graceMs = GRACE_MS) => doctor.drain(KEY, { ...WHY, graceMs });
  const children = (): string[] => engine.world.children(KEY);

  /** Each of these waits, in this order. */
  async function wait(...modes: (readonly [Client, LockMode])[]): Promise<Promise<Failure>[]> {
    const waiting: Promise<Failure>[] = [];
    const before = children().length;
    for (const [{ locks }, mode] of modes) {
      waiting.push(rejection(locks.acquire(KEY, { mode, waitMs: 60_000 })));
      await engine.runUntil(() => children().length === before + waiting.length);
    }
    await engine.runFor(50);
    return waiting;
  }

  it('fails all that wait, wherever they wait, and leaves the holder alone', async () => {
    const lock = await hold();
    const waiting = await wait(
      [one, 'exclusive'],
      [other, 'read'],
      [other, 'exclusive'],
      [third, 'upgradeable'],
      [one, 'read'],
      [third, 'exclusive'],
      [other, 'write'],
    );
    const drained = drain();
    const failures = await engine.settle(Promise.all(waiting), TOLD_MS);
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(LockDrainedError);
      expect(failure).toMatchObject({ code: 'LOCK_DRAINED', status: 503, key: KEY, ...WHY });
      expect(failure.details).toContain('by ada: the queue is of no use');
    }
    expect(await engine.settle(drained)).toMatchObject({ key: KEY, removed: 7 });
    expect(lock.isHeld()).toBe(true);
    expect(children()).toEqual([lock.nodePath.slice(KEY.length + 1)]);
    await engine.settle(lock.release());
    await engine.runFor(3_000);
    expect(engine.world.watchCount).toBe(0);
    expect([one, other, third].flatMap(({ events }) => events.map(({ type }) => type))).not.toContain('requeued');
  });

  it.each<LockMode>(['exclusive', 'read', 'write', 'upgradeable'])(
    'tells the only waiter, of mode %s, though nothing else moves in the queue',
    async (mode) => {
      const lock = await hold();
      const [waiting] = await wait([other, mode]);
      const drained = drain();
      expect(await engine.settle(waiting!, TOLD_MS)).toBeInstanceOf(LockDrainedError);
      expect(await engine.settle(drained)).toMatchObject({ removed: 1 });
      expect(lock.isHeld()).toBe(true);
      await engine.settle(lock.release());
    },
  );

  it('leaves readers inside alone, and those who may be inside beside an upgrader', async () => {
    const upgrader = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
    const reader = await engine.settle(other.locks.acquire(KEY, { mode: 'read' }));
    const upgrading = upgrader.upgrade({ waitMs: 60_000 });
    await engine.runUntil(() => children().length === 3);
    const waiting = await wait([third, 'read'], [third, 'write']);
    const drained = drain();
    for (const one of waiting) expect(await engine.settle(one, TOLD_MS)).toBeInstanceOf(LockDrainedError);
    expect(await engine.settle(drained)).toMatchObject({ removed: 2 });
    expect([upgrader.isHeld(), reader.isHeld()]).toEqual([true, true]);
    await engine.settle(reader.release());
    await engine.settle(upgrading);
    expect(upgrader.mode).toBe('write');
    await engine.settle(upgrader.release());
  });

  it('lets who comes afterwards queue, and enter when the holder leaves', async () => {
    const lock = await hold();
    const [waiting] = await wait([other, 'exclusive']);
    const drained = drain();
    await engine.settle(waiting!);
    const newcomer = other.locks.acquire(KEY);
    await engine.settle(drained);
    const later = third.locks.acquire(KEY);
    await engine.runFor(1_000);
    await engine.settle(lock.release());
    for (const next of [newcomer, later]) {
      const entered = await engine.settle(next, TOLD_MS);
      await engine.settle(entered.release());
    }
  });

  it('tells a waiter whose link was away when it is back within the grace', async () => {
    const lock = await hold();
    const [waiting] = await wait([other, 'exclusive']);
    engine.faults.refuse(other.process);
    await engine.runUntil(() => other.session.state === 'suspended');
    const drained = drain(10_000);
    await engine.runFor(500);
    engine.faults.accept(other.process);
    expect(await engine.settle(waiting!, 5_000)).toBeInstanceOf(LockDrainedError);
    await engine.settle(drained);
    await engine.settle(lock.release());
  });

  it.each(['create', 'multi', 'set', 'delete'] as const)(
    'is carried out once where its answer to a %s is lost, with the same end',
    async (kind) => {
      const lock = await hold();
      const waiting = await wait([other, 'exclusive'], [third, 'exclusive'], [one, 'read']);
      engine.faults.loseReplyOfNext(operator.process, kind);
      const drained = drain();
      for (const one of waiting) expect(await engine.settle(one, 20_000)).toBeInstanceOf(LockDrainedError);
      expect(await engine.settle(drained)).toMatchObject({ key: KEY });
      expect(children()).toHaveLength(1);
      expect(lock.isHeld()).toBe(true);
      await engine.settle(lock.release());
    },
  );

  it('does nothing where nobody waits, or where there is no queue', async () => {
    expect(await engine.settle(drain(), TOLD_MS)).toMatchObject({ removed: 0 });
    expect(engine.world.stat(KEY)).toBeUndefined();
    const lock = await hold();
    expect(await engine.settle(drain(), TOLD_MS)).toMatchObject({ removed: 0 });
    expect(children()).toHaveLength(1);
    await engine.settle(lock.release());
  });

  it('is refused beside another drain of the queue, and names it', async () => {
    const lock = await hold();
    const [waiting] = await wait([other, 'exclusive']);
    const drained = drain();
    await engine.settle(waiting!);
    const error = await engine.failure(new LockDoctor(third.locks).drain(KEY, { by: 'bob', reason: 'so do I' }));
    expect(error).toMatchObject({ code: 'LOCK_CONFIGURATION', details: expect.stringContaining('already, by ada') });
    await engine.settle(drained);
    expect(children()).toHaveLength(1);
    await engine.settle(lock.release());
  });

  it('takes a marker that nobody can read for one, too', async () => {
    const lock = await hold();
    const [waiting] = await wait([other, 'exclusive']);
    const place = children().find((name) => !lock.nodePath.endsWith(name));
    await engine.settle(replyTo(operator.session, create(`${KEY}/~drained`, 'ephemeral')));
    await engine.world.settle(operator.session.batch([{ op: 'delete', path: `${KEY}/${place}`, version: -1 }]));
    expect(await engine.settle(waiting!, 1_000)).toMatchObject({ code: 'LOCK_DRAINED', by: 'somebody unknown' });
    await engine.settle(lock.release());
  });

  it('tells of what was done, in JSON, too', async () => {
    const lines: string[] = [];
    const log = (line: string): void => void lines.push(line);
    const audited = new LockDoctor(operator.locks, { log, warn: log });
    const events: unknown[] = [];
    audited.events$.subscribe((event) => events.push(JSON.parse(JSON.stringify(event))));
    const lock = await hold();
    const [waiting] = await wait([other, 'exclusive']);
    const result = await engine.settle(audited.drain(KEY, { ...WHY, graceMs: GRACE_MS }));
    await engine.settle(waiting!);
    expect(JSON.parse(JSON.stringify(result))).toEqual({ key: KEY, removed: 1 });
    expect(events).toEqual([{ type: 'drained', key: KEY, ...WHY, removed: 1, at: expect.stringMatching(/^\d{4}-/) }]);
    expect(lines).toEqual([
      `Drain of ${KEY}: begun by ada (the queue is of no use any more)`,
      `Drain of ${KEY}: 1 waits were ended`,
    ]);
    await engine.settle(lock.release());
  });
});
