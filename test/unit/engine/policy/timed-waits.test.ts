import { describe, expect, it, jest } from '@jest/globals';
import type { AcquireOptions } from '../../../../lib/lock/acquire-options.js';
import { LockTimeoutError } from '../../../../lib/lock/errors.js';
import { set } from '../../../../lib/session/requests.js';
import { replyTo } from '../../../support/sessions/reply-to.js';
import type { Client } from '../support/engine-world.js';
import { useEngineWith } from '../support/use-engine.js';

const KEY = '/locks/ledger';

describe('For atLeastMs after a run began', () => {
  const { engine, one, other } = useEngineWith({}, 'one', 'other');
  const BUSY_MS = 3_000;
  const tryIt = (client: Client = other, options: AcquireOptions = { atLeastMs: BUSY_MS }) =>
    engine.settle(client.locks.tryAcquire(KEY, options));

  async function run(client: Client = one): Promise<void> {
    await engine.settle(client.locks.withLock(KEY, () => undefined, { atLeastMs: BUSY_MS }));
    await engine.runFor(20);
  }

  it('the key is busy to all who only try, whether they ask for it or not, and free afterwards', async () => {
    await run();
    await engine.runFor(BUSY_MS - 500);
    for (const options of [{ atLeastMs: BUSY_MS }, {}, { mode: 'read' }] as const)
      expect([options, await tryIt(other, options)]).toEqual([options, undefined]);
    expect(await tryIt(one)).toBeUndefined();
    for (const waitMs of [0, 50]) {
      const error = await engine.failure(other.locks.acquire(KEY, { waitMs }));
      expect(error).toBeInstanceOf(LockTimeoutError);
      expect(error.details).toContain('(atLeastMs)');
    }
    await engine.runFor(600);
    const lock = await tryIt();
    expect(lock!.abandoned).toBeUndefined();
    await engine.settle(lock!.release());
    expect(engine.queue(KEY)).toEqual([]);
  });

  it('one that waits enters when the time is over, by the clock of the servers', async () => {
    await run();
    const before = engine.world.now();
    await engine.settle(other.locks.acquire(KEY));
    const waitedMs = engine.world.now() - before;
    expect(waitedMs).toBeGreaterThan(BUSY_MS - 100);
    expect(waitedMs).toBeLessThan(BUSY_MS + 200);
  });

  it('the time counts from the begin of a run that waited for long before it', async () => {
    const holder = await engine.settle(other.locks.acquire(KEY));
    const running = one.locks.withLock(KEY, () => undefined, { atLeastMs: BUSY_MS });
    await engine.runFor(BUSY_MS + 1_000);
    await engine.settle(holder.release());
    await engine.settle(running);
    await engine.runFor(BUSY_MS / 2);
    expect(await tryIt()).toBeUndefined();
  });

  it('a run that began while the next one waited counts in full for that one', async () => {
    const holder = await engine.settle(other.locks.acquire(KEY));
    const running = one.locks.withLock(KEY, () => undefined, { atLeastMs: BUSY_MS });
    await engine.runUntil(() => engine.queue(KEY).length === 2);
    const waiting = other.locks.acquire(KEY);
    await engine.runFor(1_500);
    await engine.settle(holder.release());
    await engine.settle(running);
    const began = engine.world.now();
    await engine.settle(waiting);
    expect(engine.world.now() - began).toBeGreaterThan(BUSY_MS - 50);
  });

  it('costs a try no write, once it was found busy', async () => {
    await run();
    expect(await tryIt()).toBeUndefined();
    await engine.runFor(50);
    const { cversion } = engine.world.stat(KEY)!;
    expect([await tryIt(), await tryIt(other, {})]).toEqual([undefined, undefined]);
    expect(engine.world.stat(KEY)!.cversion).toBe(cversion);
    await engine.runFor(BUSY_MS);
    expect(await tryIt()).toBeDefined();
  });

  it("counts anew, once, where the servers' clock was set back", async () => {
    await run();
    const record = JSON.stringify({ lastRun: { at: 4_000_000_000_000, busyMs: BUSY_MS } });
    await engine.settle(replyTo(one.session, set(KEY, Buffer.from(record))));
    expect(await tryIt()).toBeUndefined();
    const before = engine.world.now();
    await engine.settle(other.locks.acquire(KEY));
    expect(engine.world.now() - before).toBeLessThan(BUSY_MS + 100);
  });

  it('the key is busy where the run could have recovered, and there was nothing to recover', async () => {
    const options: AcquireOptions = { atLeastMs: BUSY_MS, onAbandoned: 'recover', recover: () => undefined };
    await engine.settle(one.locks.withLock(KEY, () => undefined, options));
    await engine.runFor(20);
    expect(await tryIt()).toBeUndefined();
  });

  it('the key is busy to one that had waited since before the run began, and to those behind it', async () => {
    const holder = await engine.settle(one.locks.acquire(KEY));
    const running = one.locks.withLock(KEY, () => undefined, { atLeastMs: BUSY_MS });
    await engine.runUntil(() => engine.queue(KEY).length === 2);
    const behind = Promise.all([1, 2].map(() => other.locks.withLock(KEY, () => engine.world.now())));
    await engine.runUntil(() => engine.queue(KEY).length === 4);
    await engine.runFor(2_000);
    const before = engine.world.now();
    await engine.settle(holder.release());
    await engine.settle(running);
    for (const enteredAt of await engine.settle(behind)) expect(enteredAt - before).toBeGreaterThanOrEqual(BUSY_MS);
  });

  it.each([
    ['behind: the time counts anew, once', -3_600_000, BUSY_MS],
    ['ahead: the time is over', 3_600_000, 0],
  ])('a new leader whose wall clock is an hour %s', async (_how, jumpMs, leftMs) => {
    await run();
    const { timeline } = engine.world.ensemble;
    const wallNow = timeline.wallNow.bind(timeline);
    jest.spyOn(timeline, 'wallNow').mockImplementation(() => wallNow() + jumpMs);
    const before = engine.world.now();
    await engine.settle(other.locks.acquire(KEY, { waitMs: 4 * BUSY_MS }));
    expect(engine.world.now() - before).toBeGreaterThanOrEqual(leftMs);
    expect(engine.world.now() - before).toBeLessThan(leftMs + 200);
  });

  it('the key is busy where the holder vanished, its session changed, and containers were reaped', async () => {
    await engine.settle(one.locks.acquire(KEY, { atLeastMs: BUSY_MS }));
    engine.faults.expire(one.session.identity!.id);
    await engine.runUntil(() => engine.queue(KEY).length === 0);
    engine.faults.reapContainers();
    await engine.runFor(1_000);
    expect(await tryIt()).toBeUndefined();
    await engine.runFor(BUSY_MS);
    expect((await tryIt())!.abandoned).toBeDefined();
  });

  it('the key is busy where the run is told of only by its contender, as its release got lost', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY, { atLeastMs: BUSY_MS }));
    engine.faults.loseReplyOfNext(one.process, 'multi');
    await engine.settle(lock.release());
    await engine.runUntil(() => engine.queue(KEY).length === 0);
    expect(await tryIt()).toBeUndefined();
    await engine.runFor(BUSY_MS);
    expect((await tryIt())!.abandoned).toBeUndefined();
  });
});
