import { describe, expect, it } from '@jest/globals';
import type { AbandonedPolicy } from '../../../../lib/lock/abandoned.js';
import type { AcquireOptions } from '../../../../lib/lock/acquire-options.js';
import {
  LockAbandonedError,
  LockConfigurationError,
  LockLostError,
  LockTimeoutError,
} from '../../../../lib/lock/errors.js';
import type { LockHandle } from '../../../../lib/lock/handle.js';
import { RECORD_KEEPER } from '../../../../lib/queue/reserved-names.js';
import { create, get, list, remove, type Request, set } from '../../../../lib/session/requests.js';
import { replyTo } from '../../../support/sessions/reply-to.js';
import { type Client, rejection, typesOf } from '../support/engine-world.js';
import { useEngineWith } from '../support/use-engine.js';

const KEY = '/locks/ledger';

describe('After a holder that vanished inside,', () => {
  const { engine, one, other } = useEngineWith({}, 'one', 'other');

  async function recorded(): Promise<string> {
    const { data } = await engine.settle(replyTo(other.session, get(KEY)));
    return Buffer.from(data).toString();
  }

  const acquire = (client: Client, options: AcquireOptions = {}): Promise<LockHandle> =>
    engine.settle(client.locks.acquire(KEY, options));

  /** Enters and vanishes. */
  async function vanish(options: AcquireOptions, checkpoint?: unknown): Promise<LockHandle> {
    const lock = await acquire(one, options);
    if (checkpoint !== undefined) await engine.settle(lock.checkpoint(checkpoint));
    engine.faults.expire(one.session.identity!.id);
    await engine.runUntil(() => engine.queue(KEY).length === 0);
    await engine.runUntil(() => one.session.state === 'reconnected' || one.session.state === 'connected');
    return lock;
  }

  it('the next one is told who it was, its token, since when, and its last checkpoint', async () => {
    const before = await vanish({ onAbandoned: 'enter', label: 'the first' }, { step: 2 });
    const lock = await acquire(other, { onAbandoned: 'enter' });
    expect(lock.abandoned).toMatchObject({
      label: 'the first',
      pid: process.pid,
      token: before.fencingToken,
      checkpoint: { step: 2 },
      recoverer: undefined,
    });
    expect(lock.abandoned!.since).toBeInstanceOf(Date);
    expect(JSON.parse(JSON.stringify(lock.abandoned))).toMatchObject({ token: String(before.fencingToken) });
    expect(typesOf(other.events)).toEqual(['acquired', 'abandoned']);
    expect(JSON.parse(JSON.stringify(other.events[1]))).toMatchObject({ abandoned: { label: 'the first' } });
    await engine.settle(lock.release());
    expect((await acquire(other, { onAbandoned: 'enter' })).abandoned).toBeUndefined();
  });

  it('one that asks for nothing is told as well, and takes its place in the record', async () => {
    await vanish({ onAbandoned: 'enter', label: 'the first' });
    const lock = await acquire(other);
    expect(lock.abandoned).toMatchObject({ label: 'the first' });
    expect(await recorded()).toContain(lock.nodePath.slice(KEY.length + 1));
    await engine.settle(lock.release());
    expect(await recorded()).toBe('');
  });

  it('one that stood behind it before it wrote anything, and asks for nothing, is told as well', async () => {
    const entering = one.locks.acquire(KEY, { onAbandoned: 'enter' });
    await engine.runUntil(() => engine.queue(KEY).length === 1);
    const waiting = other.locks.acquire(KEY);
    await engine.runUntil(() => engine.queue(KEY).length === 2);
    await engine.settle(entering);
    engine.faults.expire(one.session.identity!.id);
    expect((await engine.settle(waiting)).abandoned).toBeDefined();
  });

  it('the next one is told although another process made the node of the key anew while it came', async () => {
    await engine.settle((await acquire(one)).release());
    await engine.settle(replyTo(other.session, remove(KEY)));
    const { session } = one;
    const batch = session.batch.bind(session);
    // The servers removed the empty node. What keeps the record finds it missing, and the contender behind that finds a new one.
    session.batch = (async (requests: readonly Request[]) => {
      session.batch = batch;
      const front = await batch(requests.slice(0, 1));
      expect(front).toEqual([expect.objectContaining({ code: 'NO_NODE' })]);
      await replyTo(other.session, create(KEY, 'container'));
      return [...front, ...(await batch(requests.slice(1)))];
    }) as typeof batch;
    await vanish({ onAbandoned: 'enter', label: 'the first' });
    expect(await engine.settle(replyTo(other.session, list(KEY)))).toMatchObject({ children: [RECORD_KEEPER] });
    expect((await acquire(other)).abandoned).toMatchObject({ label: 'the first' });
  });

  it('nobody is told where it released in order, or where it asked for nothing', async () => {
    await engine.settle((await acquire(one, { onAbandoned: 'recover', recover: () => undefined })).release());
    expect(await recorded()).toBe('');
    expect((await acquire(other, { onAbandoned: 'enter' })).abandoned).toBeUndefined();
  });

  it('nobody is told where a stranger wrote to the node of the key meanwhile', async () => {
    const lock = await acquire(one, { onAbandoned: 'hold' });
    await engine.settle(replyTo(other.session, set(KEY, Buffer.from(await recorded()))));
    await engine.settle(lock.release());
    expect(await recorded()).toBe('');
  });

  it('nobody is told where its release was cut off, and its session ended before the link was back', async () => {
    const lock = await acquire(one, { onAbandoned: 'hold' });
    engine.faults.refuse(one.process);
    await engine.runFor(50);
    await engine.settle(lock.release());
    engine.faults.expire(one.session.identity!.id);
    await engine.runUntil(() => engine.queue(KEY).length === 0);
    expect(await recorded()).not.toBe('');
    engine.faults.accept(one.process);
    await engine.runUntil(() => one.session.state === 'connected' || one.session.state === 'reconnected');
    await engine.runFor(200);
    expect(await recorded()).toBe('');
  });

  it("all are kept out with 'hold', also those that only try or ask for nothing, and nothing is written", async () => {
    await vanish({ onAbandoned: 'hold', label: 'the first' }, 'half way');
    for (const options of [{}, { mode: 'read' }, { onAbandoned: 'enter' }, { waitMs: 0 }] as const) {
      const error = await engine.failure(other.locks.acquire(KEY, options));
      expect(error).toBeInstanceOf(LockAbandonedError);
      expect(error).toMatchObject({ code: 'LOCK_ABANDONED', status: 423, abandoned: { label: 'the first' } });
      expect(error.details).toContain('clear(');
      expect(error.details).toContain('half way');
    }
    await engine.runFor(100);
    const versions = engine.world.stat(KEY)!;
    expect(await engine.failure(other.locks.tryAcquire(KEY, { onAbandoned: 'enter' }))).toBeInstanceOf(
      LockAbandonedError,
    );
    expect(engine.world.stat(KEY)).toMatchObject({ cversion: versions.cversion, version: versions.version });
    await engine.runFor(100);
    expect(engine.queue(KEY)).toEqual([]);
  });

  it("a call with 'hold' of its own is refused whatever the holder asked for", async () => {
    await vanish({ onAbandoned: 'enter' });
    expect(await engine.failure(other.locks.acquire(KEY, { onAbandoned: 'hold' }))).toBeInstanceOf(LockAbandonedError);
    expect((await acquire(other, { onAbandoned: 'enter' })).abandoned).toBeDefined();
  });

  it.each<AbandonedPolicy>(['recover', 'enter'])(
    "the next one with 'recover' repairs first, once, where the holder asked for '%s'",
    async (policy) => {
      await vanish({ onAbandoned: policy, ...(policy === 'recover' ? { recover: () => undefined } : {}) }, 7);
      const order: string[] = [];
      const recover = async (lock: LockHandle): Promise<void> => {
        order.push(`recovers ${String(lock.abandoned!.checkpoint)}`);
        await other.sleep(20);
        lock.assertHeld();
        expect(engine.queue(KEY)).toHaveLength(1);
        order.push('has recovered');
      };
      const options: AcquireOptions = { onAbandoned: 'recover', recover };
      await engine.settle(other.locks.withLock(KEY, () => void order.push('runs'), options));
      await engine.settle(other.locks.withLock(KEY, () => void order.push('runs'), options));
      expect(order).toEqual(['recovers 7', 'has recovered', 'runs', 'runs']);
    },
  );

  it("a call that asks for 'recover' and cannot recover is refused, whatever the holder asks for", async () => {
    await vanish({ onAbandoned: 'recover', recover: () => undefined });
    for (const options of [{}, { onAbandoned: 'enter' }, { mode: 'read' }] as const) {
      const error = await engine.failure(other.locks.acquire(KEY, options));
      expect(error).toBeInstanceOf(LockAbandonedError);
      expect(error.details).toContain('@Recover');
    }
  });

  it('a recovery that fails is the error of its call, and the next one recovers', async () => {
    await vanish({ onAbandoned: 'enter' }, 'left');
    const own = new Error('cannot repair');
    const failing = other.locks.acquire(KEY, { onAbandoned: 'recover', recover: () => Promise.reject(own) });
    expect(await engine.failure(failing)).toBe(own);
    await engine.runUntil(() => engine.queue(KEY).length === 0);
    const seen: unknown[] = [];
    const recover = ({ abandoned }: LockHandle): void => void seen.push([abandoned!.checkpoint, abandoned!.recoverer]);
    await acquire(other, { onAbandoned: 'recover', recover });
    expect(seen).toEqual([['left', undefined]]);
  });

  it('one that vanished while it recovered is told of, together with what it was to recover', async () => {
    await vanish({ onAbandoned: 'enter', label: 'the first' }, 'left');
    const recovering = rejection(
      one.locks.acquire(KEY, { onAbandoned: 'recover', recover: () => one.sleep(60_000), label: 'the second' }),
    );
    await engine.runUntil(() => engine.queue(KEY).length === 1);
    await engine.runFor(50);
    engine.faults.expire(one.session.identity!.id);
    expect(await engine.settle(recovering)).toBeInstanceOf(LockLostError);
    let told: LockHandle['abandoned'];
    const recover = ({ abandoned }: LockHandle): void => void (told = abandoned);
    await engine.settle((await acquire(other, { onAbandoned: 'recover', recover })).release());
    expect(told).toMatchObject({ label: 'the first', checkpoint: 'left', recoverer: { label: 'the second' } });
    expect(await recorded()).toBe('');
  });

  it('one that vanished after it had recovered is told of alone', async () => {
    await vanish({ onAbandoned: 'enter', label: 'the first' });
    await vanish({ onAbandoned: 'recover', recover: () => undefined, label: 'the second' });
    const lock = await acquire(other, { onAbandoned: 'enter', waitMs: 5_000 }).catch((error: unknown) => error);
    expect(lock).toBeInstanceOf(LockAbandonedError);
    expect(lock).toMatchObject({ abandoned: { label: 'the second', recoverer: undefined } });
  });

  it('a call within the recovery shares the lock', async () => {
    await vanish({ onAbandoned: 'enter' });
    const recover = (): Promise<void> => other.locks.withLock(KEY, () => undefined);
    await engine.settle((await acquire(other, { onAbandoned: 'recover', recover })).release());
  });

  it('what stands in the record outlives the reaping of empty containers, also where the key was used without one', async () => {
    await engine.settle((await acquire(other)).release());
    await vanish({ onAbandoned: 'enter' });
    engine.faults.reapContainers();
    await engine.runFor(100);
    expect((await acquire(other, { onAbandoned: 'enter' })).abandoned).toBeDefined();
  });

  it('a reader is told, and leaves the record to those that write', async () => {
    await vanish({ onAbandoned: 'enter' });
    const reader = await acquire(other, { mode: 'read' });
    expect(reader.abandoned).toBeDefined();
    await engine.settle(reader.release());
    expect((await acquire(other)).abandoned).toBeDefined();
  });

  it('nobody is told of one that gave up before it entered, at whatever time, nor of one whose answers were lost', async () => {
    const named: number[] = [];
    for (let afterMs = 0; afterMs <= 14; afterMs += 1) {
      const abort = new AbortController();
      const acquiring = one.locks.acquire(KEY, { onAbandoned: 'hold', signal: abort.signal }).catch(() => undefined);
      await engine.runFor(afterMs);
      if (engine.world.stat(KEY)?.dataLength) named.push(afterMs);
      if (afterMs % 2 === 1) engine.faults.suspend(one.process);
      abort.abort();
      void (await engine.settle(acquiring))?.release();
      await engine.runFor(500);
      const lock = await acquire(other, { onAbandoned: 'enter' });
      expect([afterMs, lock.abandoned]).toEqual([afterMs, undefined]);
      await engine.settle(lock.release());
    }
    expect(named).not.toEqual([]);
  });

  it('is told of also where one before gave up whose write had never been sent, and came too late to take it back', async () => {
    const doomed = await acquire(one, { onAbandoned: 'enter' });
    const late = rejection(other.locks.acquire(KEY, { onAbandoned: 'enter', waitMs: 3_000 }));
    await engine.runUntil(() => engine.queue(KEY).length === 2);
    // Its turn comes, it reads the record, and its write never leaves.
    engine.faults.loseNextRequest(other.process, 'multi');
    void doomed.release();
    await engine.runUntil(() => other.session.state === 'suspended');
    engine.faults.refuse(other.process);
    engine.faults.expire(other.session.identity!.id);
    const next = await acquire(one, { onAbandoned: 'enter', label: 'the next' });
    expect(next.abandoned).toBeUndefined();
    engine.faults.accept(other.process);
    await engine.settle(late);
    await engine.runFor(500);
    expect(await recorded()).toContain('the next');
  });

  it('the next is told of both, if another one vanished before it had recovered, though the answer to its entry is lost', async () => {
    const first = await vanish({ onAbandoned: 'enter' });
    const second = await vanish({ onAbandoned: 'enter' });
    engine.faults.loseReplyOfNext(other.process, 'multi');
    const lock = await acquire(other, { onAbandoned: 'enter' });
    expect(lock.abandoned).toMatchObject({ token: first.fencingToken, recoverer: { token: second.fencingToken } });
  });

  it('one that was to hold several locks, and did not get them all, leaves it to the next one', async () => {
    await vanish({ onAbandoned: 'enter', label: 'the first' });
    await engine.settle(one.locks.acquire('/locks/next'));
    const all = other.locks.acquireAll([KEY, '/locks/next'], { waitMs: 500 });
    expect(await engine.failure(all)).toBeInstanceOf(LockTimeoutError);
    expect((await acquire(other)).abandoned).toMatchObject({ label: 'the first', recoverer: undefined });
  });

  it('inspect shows it until it is dealt with', async () => {
    await vanish({ onAbandoned: 'enter', label: 'the first' });
    expect(await engine.settle(other.locks.inspect(KEY))).toMatchObject({
      state: 'EXPIRED',
      abandoned: { label: 'the first' },
    });
    const lock = await acquire(other, { onAbandoned: 'enter' });
    expect(await engine.settle(other.locks.inspect(KEY))).toMatchObject({
      state: 'HELD',
      abandoned: { label: 'the first' },
    });
    await engine.settle(lock.release());
    const free = await engine.settle(other.locks.inspect(KEY));
    expect([free.state, free.abandoned]).toEqual(['FREE', undefined]);
  });
});

describe('A checkpoint', () => {
  const { engine, one, other } = useEngineWith({}, 'one', 'other');

  it('is one guarded write', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY, { onAbandoned: 'enter' }));
    const { version } = engine.world.stat(KEY)!;
    await engine.settle(lock.checkpoint({ done: [1, 2] }));
    expect(engine.world.stat(KEY)!.version).toBe(version + 1);
    engine.faults.expire(one.session.identity!.id);
    expect(await engine.failure(lock.checkpoint('too late'))).toBeInstanceOf(LockLostError);
    expect((await engine.settle(other.locks.acquire(KEY))).abandoned!.checkpoint).toEqual({ done: [1, 2] });
  });

  it('is written again where the answer was lost, and the last of several stays', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY, { onAbandoned: 'enter' }));
    engine.faults.loseReplyOfNext(one.process, 'multi');
    await engine.settle(Promise.all([lock.checkpoint(1), lock.checkpoint(2), lock.checkpoint(3)]));
    engine.faults.expire(one.session.identity!.id);
    expect((await engine.settle(other.locks.acquire(KEY))).abandoned!.checkpoint).toBe(3);
  });

  it('is refused without a record, of too much data, and of data that JSON cannot say', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY));
    expect((await engine.failure(lock.checkpoint(1))).details).toContain('onAbandoned');
    for (const data of ['x'.repeat(8 * 1024), undefined, () => 1])
      expect(await engine.failure(lock.checkpoint(data))).toBeInstanceOf(LockConfigurationError);
  });

  it('ends with the lock where the link is down', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY, { onAbandoned: 'enter' }));
    engine.faults.blackHole(one.process);
    expect(await engine.failure(lock.checkpoint(1))).toBeInstanceOf(LockLostError);
  });
});

describe('Keys that use no record', () => {
  const { engine, one, other } = useEngineWith({}, 'one', 'other');

  it('are never read, nor written, and leave nothing behind', async () => {
    const { traffic } = engine.world.ensemble;
    await engine.settle((await engine.settle(one.locks.acquire(KEY))).release());
    const before = [traffic.requests('get'), traffic.requests('set'), traffic.requests('multi')];
    const lock = await engine.settle(other.locks.acquire(KEY));
    await engine.settle(lock.release());
    expect([traffic.requests('get'), traffic.requests('set'), traffic.requests('multi')]).toEqual(before);
    expect(engine.world.children(KEY)).not.toContain(RECORD_KEEPER);
    expect(engine.world.stat(KEY)!.dataLength).toBe(0);
  });

  it.each<[string, AcquireOptions]>([
    ['a recover function alone', { recover: () => undefined }],
    ["'recover' without a function", { onAbandoned: 'recover' }],
    ["'recover' for a reader", { onAbandoned: 'recover', recover: () => undefined, mode: 'read' }],
    ["'delay' without a lockDelayMs", { onAbandoned: 'delay' }],
    ['atLeastMs for a reader', { atLeastMs: 5, mode: 'read' }],
  ])('refuse %s before any I/O', async (_what, options) => {
    const before = engine.world.ensemble.traffic.requests('create');
    expect(await engine.failure(one.locks.acquire(KEY, options))).toBeInstanceOf(LockConfigurationError);
    expect(engine.world.ensemble.traffic.requests('create')).toBe(before);
  });
});
