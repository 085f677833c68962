import { channel, tracingChannel } from 'node:diagnostics_channel';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LOCK_CHANNELS } from '../../../lib/lock/channels.js';
import { LockLostError, LockTimeoutError } from '../../../lib/lock/errors.js';
import { Heard } from '../../support/traces/heard.js';
import { useEngine } from './support/use-engine.js';

const KEY = '/locks/report/7';
const TEMPLATE = '/locks/report/:id';

describe('The channels of locks', () => {
  const { engine, one, two } = useEngine('one', 'two');
  let heard: Heard;

  beforeEach(() => void (heard = new Heard()));
  afterEach(() => heard.stop());

  it('tell of a call and of its hold, each with one object from its begin to its end', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY, { label: 'Reports.write', template: TEMPLATE }));
    await engine.runFor(500);
    await engine.settle(lock.release());

    expect(heard.kinds).toEqual([
      'acquire start',
      'acquire end',
      'enqueue',
      'hold start',
      'hold end',
      'acquire asyncStart',
      'acquire asyncEnd',
      'hold asyncStart',
      'hold asyncEnd',
    ]);
    const [acquired] = heard.acquires;
    const [held] = heard.holds;
    const common = {
      connection: 'default',
      key: KEY,
      template: TEMPLATE,
      label: 'Reports.write',
      mode: 'exclusive',
      token: String(lock.fencingToken),
      error: undefined,
    };
    expect(acquired).toMatchObject({
      ...common,
      ahead: 0,
      handOverMs: undefined,
      outcome: 'acquired',
      code: undefined,
    });
    expect(held).toMatchObject({ ...common, scope: 'fleet', outcome: 'released', reason: undefined });
    expect(held!.heldMs).toBeGreaterThanOrEqual(500);
    expect(held!.owner).toBe(acquired!.owner);
    expect(new Set(heard.all.map(({ original }) => original)).size).toBe(2);
    expect(JSON.parse(JSON.stringify([acquired, held]))).toMatchObject([
      { outcome: 'acquired' },
      { outcome: 'released' },
    ]);
  });

  it('say how many were ahead, how long it waited, and how long the hand-over took', async () => {
    const first = await engine.settle(one.locks.acquire(KEY));
    const others = [two.locks.acquire(KEY), two.locks.acquire(KEY)];
    await engine.runFor(300);
    const last = one.locks.acquire(KEY);
    await engine.runFor(700);
    void first.release();
    for (const lock of [...others, last]) void lock.then((held) => held.release());
    await engine.settle(last);

    expect(heard.acquires.map(({ ahead }) => ahead)).toEqual([0, 1, 2, 3]);
    const [, second, , fourth] = heard.acquires;
    expect(second!.waitedMs).toBeGreaterThanOrEqual(1_000);
    expect(fourth!.waitedMs).toBeLessThan(second!.waitedMs! + 300);
    for (const { handOverMs } of heard.acquires.slice(1)) {
      expect(handOverMs).toBeGreaterThanOrEqual(0);
      expect(handOverMs).toBeLessThan(300);
    }
  });

  it('count nobody ahead of a reader that enters beside others', async () => {
    await engine.settle(one.locks.acquire(KEY, { mode: 'read' }));
    await engine.settle(two.locks.acquire(KEY, { mode: 'read' }));
    expect(heard.acquires.map(({ ahead }) => ahead)).toEqual([0, 0]);
  });

  it('tell of a call that fails, and of one that only tries', async () => {
    await engine.settle(one.locks.acquire(KEY));
    const error = await engine.failure(two.locks.acquire(KEY, { waitMs: 400 }));
    expect(await engine.settle(two.locks.tryAcquire(KEY))).toBeUndefined();
    await engine.failure(two.locks.acquire(KEY, { waitMs: 0 }));

    expect(error).toBeInstanceOf(LockTimeoutError);
    const [, failed, busy, tried] = heard.acquires;
    // A try that finds the lock busy has its answer, whether its caller gets that as an error or not.
    expect(tried).toMatchObject({ outcome: 'busy', code: undefined, error: undefined });
    expect(failed).toMatchObject({ outcome: 'failed', code: 'LOCK_TIMEOUT', ahead: 1, token: undefined, error });
    expect(busy).toMatchObject({ outcome: 'busy', code: undefined, error: undefined });
    expect(heard.kinds.filter((kind) => kind === 'acquire error')).toHaveLength(1);
  });

  it('tell why a lock was lost', async () => {
    await engine.settle(one.locks.acquire(KEY));
    engine.faults.expire(one.session.identity!.id);
    await engine.runUntil(() => heard.holds.length > 0);
    expect(heard.holds).toMatchObject([{ outcome: 'lost', reason: 'session-ended', error: expect.any(LockLostError) }]);
    expect(heard.kinds).toContain('hold error');
  });

  it('tell nothing of a call that shares the lock of its caller', async () => {
    await engine.settle(one.locks.withLock(KEY, () => one.locks.withLock(KEY, () => undefined)));
    expect(heard.acquires).toHaveLength(1);
    expect(heard.holds).toHaveLength(1);
  });

  it('are told nothing where nobody listens', async () => {
    heard.stop();
    expect(tracingChannel(LOCK_CHANNELS.acquire).hasSubscribers).toBe(false);
    expect(channel(LOCK_CHANNELS.enqueue).hasSubscribers).toBe(false);
    await engine.settle(one.locks.withLock(KEY, () => undefined));
    expect(heard.all).toEqual([]);
  });

  it('leave the template and the owner to events, too', async () => {
    await engine.settle(one.locks.withLock(KEY, () => undefined, { template: TEMPLATE }));
    await engine.settle(one.locks.acquire(KEY));
    await engine.failure(one.locks.acquire(KEY, { waitMs: 200, template: TEMPLATE }));
    const facts = one.events.map(({ type, template, owner }) => [type, template, typeof owner]);
    expect(facts).toEqual([
      ['acquired', TEMPLATE, 'string'],
      ['released', TEMPLATE, 'string'],
      ['acquired', undefined, 'string'],
      ['failed', TEMPLATE, 'string'],
    ]);
    const owners = one.events.map(({ owner }) => owner);
    expect(owners[0]).toBe(owners[1]);
    expect(new Set(owners).size).toBe(3);
  });
});
