import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LockService } from '../../../lib/engine/lock-service.js';
import type { LockHandle } from '../../../lib/lock/handle.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { SESSION_MS } from '../../support/locks/times.js';
import { outcomeOf, Witness } from '../../support/locks/witness.js';
import { eventually } from '../../support/process/eventually.js';
import { RecipeFolder, recipes } from '../../support/recipes/recipe-folder.js';

type WhenFree = (
  locks: LockService,
  key: string,
  look: () => Promise<string>,
  tell: (text: string) => void,
) => Promise<string>;

type ImportRows = (
  locks: LockService,
  read: (enough: AbortSignal) => Promise<string[]>,
  save: (rows: string[], lock: LockHandle) => Promise<void>,
  savingTakesMs?: number,
) => Promise<void>;

type SettleAll = (
  locks: LockService,
  ids: readonly string[],
  settle: (id: string, lock: LockHandle) => Promise<void>,
  atOnce?: number,
) => Promise<string[]>;

/** With these no session ends on any machine. An offered session is certain for two ticks. */
const SLOW_TICK_MS = 10_000;
const ENDLESS_SESSION_MS = 10 * SLOW_TICK_MS;
/** The margin of 2 s left out, this much is left of it after 2 s. */
const SOON_MS = ENDLESS_SESSION_MS - 4_000;
/** More turns of the event loop than anything takes that is ready to run. */
const TURNS = 1_000;

describe('Of the recipes that are functions', () => {
  const stage = new LockStage();
  let folder: RecipeFolder;

  beforeAll(async () => void (folder = await RecipeFolder.make()));
  afterAll(() => folder.remove());

  it('each one stands in the page, as all others do, and a test runs each', () => {
    const here = ['whenFree', 'importRows', 'settleAll'];
    // In `applications.test.ts` and `leader.test.ts`.
    const elsewhere = ['MigrateAtBoot', 'campaign', 'Leader', 'NightlyInvoices'];
    expect([...recipes().keys()].sort()).toEqual([...here, ...elsewhere].sort());
  });

  describe('that of waiting until a key is free', () => {
    it('looks when nobody writes, with all others that wait, and tells meanwhile', async () => {
      const whenFree = await folder.load<WhenFree>('whenFree');
      const [writer, one, other] = [await stage.open(), await stage.open(), await stage.open()];
      const key = stage.freshKey();
      const lock = await writer.service.acquire(key, { label: 'import' });
      const told: string[] = [];
      const inside: string[] = [];
      const look = async (who: string): Promise<string> => {
        expect(lock.isHeld()).toBe(false);
        inside.push(who);
        await eventually('both are inside', () => inside.length === 2);
        return who;
      };
      const looks = [
        whenFree(
          one.service,
          key,
          () => look('one'),
          (text) => told.push(text),
        ),
        whenFree(
          other.service,
          key,
          () => look('other'),
          () => undefined,
        ),
      ];
      await stage.untilQueueHas(key, 3);
      await eventually('it is told', () => told.includes('HELD import, 2 wait'));
      expect(inside).toEqual([]);
      await lock.release();
      expect(await Promise.all(looks)).toEqual(['one', 'other']);
    });
  });

  describe('that of an early warning', () => {
    /** Reads rows without an end, and stops where it is told that it is enough. */
    async function readUntil(enough: AbortSignal): Promise<string[]> {
      const rows: string[] = [];
      while (!enough.aborted) {
        rows.push(`row ${rows.length}`);
        await turn();
      }
      return rows;
    }

    const patient = new LockStage(1, { tickTimeMs: SLOW_TICK_MS });

    it('saves while the lock is certain, waits for ZooKeeper, and goes on under the same lock', async () => {
      const importRows = await folder.load<ImportRows>('importRows');
      const client = await patient.open({ sessionTimeoutMs: ENDLESS_SESSION_MS, serverTickMs: SLOW_TICK_MS });
      const saves: { token: bigint; held: boolean }[] = [];
      let reads = 0;
      const read = async (enough: AbortSignal): Promise<string[]> => {
        reads += 1;
        if (reads > 1) return [];
        await client.refuse();
        return readUntil(enough);
      };
      const save = async (rows: string[], lock: LockHandle): Promise<void> => {
        expect(rows.length).toBeGreaterThan(0);
        saves.push({ token: lock.fencingToken, held: lock.isHeld() });
      };
      const importing = importRows(client.service, read, save, SOON_MS);
      await eventually('the rows are saved', () => saves.length > 0, { withinMs: 30_000 });
      for (let turns = 0; turns < TURNS; turns += 1) await turn();
      // It waits for ZooKeeper, and reads nothing meanwhile.
      expect([reads, saves]).toEqual([1, [{ token: expect.any(BigInt), held: true }]]);
      await client.pass();
      await importing;
      expect([reads, saves.length]).toEqual([2, 1]);
    });

    it('ends where the lock is lost, and saves nothing then', async () => {
      const importRows = await folder.load<ImportRows>('importRows');
      const client = await stage.open({ sessionTimeoutMs: SESSION_MS });
      const saves: boolean[] = [];
      const save = async (_rows: string[], lock: LockHandle): Promise<void> => void saves.push(lock.isHeld());
      const read = async (enough: AbortSignal): Promise<string[]> => {
        client.blackHole();
        return readUntil(enough);
      };
      expect(await outcomeOf(importRows(client.service, read, save, SESSION_MS / 4))).toMatchObject({
        code: 'LOCK_LOST',
      });
      expect(saves.filter((held) => !held)).toEqual([]);
    });
  });

  describe('that of a fan-out over many keys', () => {
    const IDS = Array.from({ length: 300 }, (_, index) => `account ${index}`);

    it('settles each at one place at a time, so many at once, and tells which were busy', async () => {
      const settleAll = await folder.load<SettleAll>('settleAll');
      const [holder, ...instances] = [await stage.open(), await stage.open(), await stage.open()];
      const held = IDS.slice(100, 110);
      const locks = await holder.service.acquireAll(held.map((id) => `/locks/accounts/${encodeURIComponent(id)}`));
      const witnesses = new Map(IDS.map((id) => [id, new Witness()]));
      const counts = instances.map(({ service }) => ({ service, settled: [] as string[], most: 0 }));
      const rounds = counts.map(async (count, index) => {
        const settle = async (id: string, lock: LockHandle): Promise<void> => {
          const witness = witnesses.get(id)!;
          witness.enter(`instance ${index}`, lock);
          count.most = Math.max(count.most, count.service.query().held.length);
          await turn();
          count.settled.push(id);
          witness.leave(lock);
        };
        return settleAll(count.service, index === 0 ? IDS : [...IDS].reverse(), settle, 16);
      });
      const busy = await Promise.all(rounds);
      await locks.release();

      expect([...witnesses.values()].flatMap(({ violations }) => violations)).toEqual([]);
      for (const [index, { settled, most }] of counts.entries()) {
        expect([...settled, ...busy[index]!].sort()).toEqual([...IDS].sort());
        expect(busy[index]).toEqual(expect.arrayContaining(held));
        expect(settled.filter((id) => held.includes(id))).toEqual([]);
        expect(most).toBeLessThanOrEqual(16);
        expect(most).toBeGreaterThan(1);
      }
    });

    it('begins nothing more behind an error, and throws it when all have stopped', async () => {
      const settleAll = await folder.load<SettleAll>('settleAll');
      const client = await stage.open();
      const begun: string[] = [];
      let ended = 0;
      const settle = async (id: string): Promise<void> => {
        begun.push(id);
        if (begun.length === 20) throw new Error('of its own');
        await turn();
        ended += 1;
      };
      expect(await outcomeOf(settleAll(client.service, IDS, settle))).toEqual(new Error('of its own'));
      expect(ended).toBe(begun.length - 1);
      // Answers come in order: until the lock of the one that failed is released, each other worker may go on to its next key, or two.
      expect(begun.length).toBeLessThan(20 + 3 * 16);
      expect(client.service.query().held).toEqual([]);
    });
  });
});
