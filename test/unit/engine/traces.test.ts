import { channel, tracingChannel } from 'node:diagnostics_channel';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type AcquireMessage, LOCK_CHANNELS } from '../../../lib/lock/channels.js';
import { LockLostError, LockTimeoutError } from '../../../lib/lock/errors.js';
import { get, type NodeData, set } from '../../../lib/session/requests.js';
import { Heard } from '../../support/traces/heard.js';
import { rejection } from './support/engine-world.js';
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

describe('Calls that are traced', () => {
  const { engine, one, two } = useEngine('one', 'two');
  const traceparents = new Map<string, string>();
  let heard: Heard;

  /** A subscriber that traces the calls of these labels. */
  const trace = (message: unknown): void => {
    const { label = '' } = message as AcquireMessage;
    (message as AcquireMessage).traceparent = traceparents.get(label);
  };
  const traceparentOf = (number: number): string =>
    `00-${String(number).padStart(32, '0')}-${String(number).padStart(16, '0')}-01`;

  beforeEach(() => {
    heard = new Heard();
    traceparents.clear();
    for (const [index, label] of ['a', 'b', 'c', 'd'].entries()) traceparents.set(label, traceparentOf(index + 1));
    tracingChannel(LOCK_CHANNELS.acquire).start.subscribe(trace);
  });
  afterEach(() => {
    tracingChannel(LOCK_CHANNELS.acquire).start.unsubscribe(trace);
    heard.stop();
  });

  async function dataOf(path: string): Promise<string> {
    const [found] = await engine.settle(one.session.batch([get(path)]));
    return Buffer.from((found as NodeData).data).toString();
  }

  it('know whom they have waited for, in their own process and in others', async () => {
    const first = await engine.settle(one.locks.acquire(KEY, { label: 'a' }));
    const others = [];
    for (const [client, label] of [
      [two, 'b'],
      [one, 'c'],
      [two, 'd'],
    ] as const) {
      others.push(client.locks.acquire(KEY, { label }));
      await engine.runFor(100);
    }
    void first.release();
    for (const lock of others) void lock.then((held) => held.release());
    await engine.settle(Promise.all(others));
    expect(heard.acquires.map(({ label, waitedFor }) => [label, waitedFor])).toEqual([
      ['a', []],
      ['b', [traceparentOf(1)]],
      // The holder, of its own process; and then the one of the other process in between.
      ['c', [traceparentOf(1), traceparentOf(2)]],
      ['d', [traceparentOf(2), traceparentOf(3)]],
    ]);
  });

  it('know the holder when their time is up, though they have watched another one', async () => {
    await engine.settle(one.locks.acquire(KEY, { label: 'a' }));
    void rejection(one.locks.acquire(KEY, { label: 'b' }));
    await engine.runFor(100);
    await engine.failure(two.locks.acquire(KEY, { label: 'c', waitMs: 1_000 }));
    expect(heard.acquires.at(-1)).toMatchObject({
      code: 'LOCK_TIMEOUT',
      waitedFor: [traceparentOf(2), traceparentOf(1)],
    });
  });

  it('leave in their nodes what they are traced by, and others leave nothing', async () => {
    const traced = await engine.settle(one.locks.acquire('/locks/traced', { label: 'a' }));
    expect(JSON.parse(await dataOf(traced.nodePath))).toMatchObject({ label: 'a', traceparent: traceparentOf(1) });
    for (const wrong of [undefined, '', '01-2-3', `${traceparentOf(7)}"`, 'x'.repeat(10_000), traceparentOf(0)]) {
      if (wrong === undefined) traceparents.delete('b');
      else traceparents.set('b', wrong);
      const lock = await engine.settle(one.locks.acquire('/locks/untraced', { label: 'b' }));
      expect(await dataOf(lock.nodePath)).not.toContain('traceparent');
      await engine.settle(lock.release());
    }
    heard.stop();
    tracingChannel(LOCK_CHANNELS.acquire).start.unsubscribe(trace);
    const unheard = await engine.settle(one.locks.acquire('/locks/unheard', { label: 'a' }));
    expect(await dataOf(unheard.nodePath)).not.toContain('traceparent');
  });

  it.each([
    ['no JSON', '{"traceparent":'],
    ['another type', '{"traceparent":{"traceId":"1"}}'],
    ['a text that is none', '{"traceparent":"00-zz-1-01"}'],
    ['ids of zeros', `{"traceparent":"${traceparentOf(0)}"}`],
    ['too much', `{"traceparent":"${traceparentOf(9)}","x":"${'x'.repeat(20_000)}"}`],
  ])('believe nothing that strangers write: %s', async (_what, data) => {
    const lock = await engine.settle(one.locks.acquire(KEY, { label: 'a' }));
    await engine.settle(one.session.batch([set(lock.nodePath, Buffer.from(data))]));
    await engine.failure(two.locks.acquire(KEY, { label: 'b', waitMs: 500 }));
    expect(heard.acquires.at(-1)).toMatchObject({ code: 'LOCK_TIMEOUT', waitedFor: [] });
  });

  it('keep the last few of those whom they have waited for', async () => {
    const written = 12;
    const lock = await engine.settle(one.locks.acquire(KEY, { label: 'a' }));
    const failed = rejection(two.locks.acquire(KEY, { label: 'b' }));
    for (let number = 1; number <= written; number += 1) {
      const data = JSON.stringify({ traceparent: traceparentOf(100 + number) });
      await engine.settle(one.session.batch([set(lock.nodePath, Buffer.from(data))]));
      await engine.runFor(200);
    }
    await engine.settle(failed);
    const { waitedFor } = heard.acquires.at(-1)!;
    expect(waitedFor).toEqual(Array.from({ length: 8 }, (_, index) => traceparentOf(100 + written - 7 + index)));
  });
});
