import { describe, expect, it } from '@jest/globals';
import type { LockHandle } from '../../../lib/lock/handle.js';
import type { LockClient } from '../../support/locks/lock-client.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { outcomeOf } from '../../support/locks/witness.js';
import { within } from '../../support/process/eventually.js';

const WAITERS = 2_000;
/** A list of them all has 60 characters and 4 bytes for each. */
const MOST_BYTES = 5_000_000;
const WAIT_MS = 60_000;
/** Whatever a process sends for the crowd once its link is up, so few requests are in front of an innocent one. */
const AHEAD_AT_MOST = 20;

describe('Nothing piles up: a crowd that waits for one key in one process', () => {
  const stage = new LockStage(1, { maxSessionTimeoutMs: 20_000 });

  /** One process holds the key, and has another key; the other process waits with a crowd, and holds a third key. */
  async function given(): Promise<{
    readonly key: string;
    readonly other: LockClient;
    readonly crowd: LockClient;
    readonly first: LockHandle;
    readonly held: LockHandle;
    readonly waiting: Promise<LockHandle | Error>[];
  }> {
    const [other, crowd] = [await stage.open(), await stage.open({ waitMs: WAIT_MS })];
    const key = stage.freshKey();
    const first = await other.service.acquire(key);
    const held = await crowd.service.acquire(stage.freshKey());
    const waiting = Array.from({ length: WAITERS }, () => outcomeOf(crowd.service.acquire(key)));
    await stage.untilQueueHas(key, WAITERS + 1, WAIT_MS);
    return { key, other, crowd, first, held, waiting };
  }

  /** Asks for a free key of no concern to the crowd, and counts what was sent before that since the last `resetCounts`. */
  async function innocent(client: LockClient): Promise<number> {
    const key = stage.freshKey();
    const askedAt = performance.now();
    const lock = await client.service.acquire(key, { waitMs: WAIT_MS });
    process.stderr.write(`[crowd] an innocent request took ${(performance.now() - askedAt).toFixed(0)} ms\n`);
    const sent = client.requests();
    await lock.release();
    return sent.findIndex(({ paths }) => paths.some((path) => path.startsWith(key)));
  }

  async function drain(waiting: readonly Promise<LockHandle | Error>[]): Promise<void> {
    await within(
      WAIT_MS,
      'all had their turn',
      Promise.all(
        waiting.map(async (outcome) => {
          const lock = await outcome;
          if (lock instanceof Error) throw lock;
          await lock.release();
        }),
      ),
    );
  }

  it('reads one list after a cut, and neither an innocent request nor the lock of another key suffers', async () => {
    const { key, crowd, first, held, waiting } = await given();
    crowd.resetCounts();
    // On a machine that is slow enough the link is cut again before it is of use.
    let reconnects = 0;
    const counting = crowd.service.connectionState$.subscribe(
      (state) => (reconnects += Number(state === 'reconnected')),
    );
    crowd.cut();
    await crowd.untilState((state) => state === 'suspended');
    await crowd.untilUp();
    const ahead = await innocent(crowd);
    counting.unsubscribe();
    expect(ahead).toBeGreaterThanOrEqual(0);
    expect(ahead).toBeLessThan(AHEAD_AT_MOST * reconnects);
    const lists = crowd.requests({ opcode: 'getChildren2', path: key });
    expect(lists.length).toBeLessThanOrEqual(reconnects);
    expect(crowd.proxy.counts().bytesToClient).toBeLessThan(MOST_BYTES);
    expect(held.isHeld()).toBe(true);
    expect(crowd.eventsOf('lost')).toEqual([]);
    await first.release();
    await drain(waiting);
    expect(crowd.proxy.counts().bytesToClient).toBeLessThan(MOST_BYTES);
    await held.release();
  }, 120_000);

  it('takes its places anew after its session was lost, with a few lists for all', async () => {
    const { key, crowd, first, waiting } = await given();
    const bytesBefore = crowd.proxy.counts().bytesToClient;
    const listsBefore = crowd.requests({ opcode: 'getChildren2', path: key }).length;
    await stage.expire(crowd);
    await crowd.untilUp(30_000);
    await innocent(crowd);
    await stage.untilQueueHas(key, WAITERS + 1, WAIT_MS);
    await first.release();
    await drain(waiting);
    expect(crowd.requests({ opcode: 'getChildren2', path: key }).length - listsBefore).toBeLessThan(20);
    expect(crowd.proxy.counts().bytesToClient - bytesBefore).toBeLessThan(MOST_BYTES);
  }, 120_000);

  it('sweeps once for all whose creates were not answered before they gave up', async () => {
    const [crowd] = [await stage.open({ waitMs: 1_500 })];
    const key = stage.freshKey();
    await (await crowd.service.acquire(key)).release();
    crowd.resetCounts();
    crowd.proxy.swallow('toClient');
    const waiting = Array.from({ length: WAITERS }, () => outcomeOf(crowd.service.acquire(key)));
    const outcomes = await Promise.all(waiting);
    expect(new Set(outcomes.map((outcome) => (outcome as { code?: string }).code))).toEqual(
      new Set(['LOCK_UNAVAILABLE']),
    );
    await crowd.pass();
    crowd.cut();
    await crowd.untilUp(30_000);
    await innocent(crowd);
    await stage.untilQueueHas(key, 0, WAIT_MS);
    expect(crowd.requests({ opcode: 'getChildren2', path: key }).length).toBeLessThan(20);
    expect(crowd.proxy.counts().bytesToClient).toBeLessThan(MOST_BYTES);
  }, 120_000);
});
