import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { claimWith } from '../../../../lib/fencing/sql/claim-with.js';
import { fenceStatement } from '../../../../lib/fencing/sql/fence-statement.js';
import { type NodeChild, ofType, startNodeChild } from '../../process/node-child.js';
import { telling } from '../../telling.js';
import { acceptable, acceptedInDisorder, codeOf, shuffledTokens } from '../tokens.js';
import { connectTo } from './connect.js';
import { LEVELS, type SqlConnection, type SqlPlace } from './sql-world.js';
import { type SqlWorld, startWorld } from './start-world.js';
import { addEntry, entriesOf, markOf, RESOURCE, type Steps } from './writer.js';
import type { WriterScriptSettings } from './writer-script.js';

const LARGEST = 2n ** 63n - 1n;
const INSTALL_MS = 400_000;
const STALE = 'STALE_FENCING_TOKEN';

export interface SqlStage {
  readonly world: SqlWorld;
  readonly connect: () => Promise<SqlConnection>;
}

/** What `claimWith` promises in every database. @returns the database, for what is promised in one of them */
export function claimPromises(dialect: SqlPlace['dialect'], sqliteJournal?: string): () => SqlStage {
  let world: SqlWorld;
  let one: SqlConnection;
  const open: SqlConnection[] = [];
  const children: NodeChild[] = [];

  beforeAll(async () => {
    world = await startWorld(dialect, sqliteJournal);
  }, INSTALL_MS);
  afterAll(() => world?.stop(), 30_000);
  beforeEach(async () => {
    await world.reset();
    one = await connect();
  });
  afterEach(async () => {
    await Promise.all(children.splice(0).map((child) => child.kill()));
    await Promise.all(open.splice(0).map((connection) => connection.close()));
  });

  async function connect(): Promise<SqlConnection> {
    const connection = await connectTo(world.place);
    open.push(connection);
    return connection;
  }

  /** A claim in a transaction of its own. */
  async function claim(token: bigint | string, resource = RESOURCE, connection = one): Promise<void> {
    await connection.begin();
    try {
      await claimWith((sql, params) => connection.run(sql, params), resource, token, { dialect });
      await connection.run('COMMIT');
    } catch (error) {
      await connection.run('ROLLBACK');
      throw error;
    }
  }

  /** As an application does it: what the database wants repeated is repeated. */
  async function addUntilDone(
    connection: SqlConnection,
    token: bigint,
    entry: string,
    steps: Steps = {},
  ): Promise<string> {
    for (;;) {
      const outcome = await addEntry(connection, token, entry, steps);
      if (outcome !== 'to repeat') return outcome;
      await pause(2);
    }
  }

  async function startWriter(token: bigint, entry: string): Promise<NodeChild> {
    const settings: WriterScriptSettings = { place: world.place, token: token.toString(), entry };
    const script = new URL('./writer-script.ts', import.meta.url);
    const child = await startNodeChild(script, { args: [JSON.stringify(settings)] });
    children.push(child);
    await child.next('before the claim', ofType('before the claim'));
    return child;
  }

  async function letClaim(writer: NodeChild): Promise<void> {
    writer.send('go on');
    await writer.next('after the claim', ofType('after the claim'));
  }

  async function outcomeOf(writer: NodeChild): Promise<unknown> {
    return (await writer.next('done', ofType('done')))['outcome'];
  }

  describe('claims', () => {
    it('accepts the same token again and a higher one, refuses a lower one and says what the highest is', async () => {
      for (const token of [5n, 5n, '7'] as const) await claim(token);
      await expect(claim(6n)).rejects.toEqual(telling('has seen the fencing token 7, so 6 comes too late'));
      expect(await markOf(one)).toBe('7');
      await claim(1n, 'another');
    });

    it('is exact up to 2^63 - 1, where numbers of JavaScript are not', async () => {
      await claim(2n ** 53n + 1n);
      expect(await codeOf(claim(2n ** 53n))).toBe(STALE);
      expect(await markOf(one)).toBe((2n ** 53n + 1n).toString());
      await claim(LARGEST);
      expect(await codeOf(claim(LARGEST - 1n))).toBe(STALE);
      expect(await markOf(one)).toBe(LARGEST.toString());
      expect(await codeOf(claim(LARGEST + 1n))).toBe('INVALID_FENCING_TOKEN');
    });

    it('never lowers the mark, in whatever order 300 tokens come', async () => {
      const { accepted, refusals } = await acceptedInDisorder(300, (token) => claim(token));
      expect(accepted).toEqual(acceptable(shuffledTokens(300)));
      expect([...refusals]).toEqual([STALE]);
      expect(await markOf(one)).toBe('300');
    });

    it('tells apart names that differ in case, accents or a space in front, and takes none for SQL', async () => {
      const names = [
        '/locks/a',
        '/locks/A',
        '/locks/á',
        ' /locks/a',
        '/locks/ä',
        '/locks/😀',
        '/locks/😁',
        `'; DROP TABLE documents; -- "\\ $1 ?`,
      ];
      for (const [index, name] of names.entries()) await claim(BigInt(index + 1), name);
      expect(await Promise.all(names.map((name) => markOf(one, name)))).toEqual(
        names.map((_, index) => `${index + 1}`),
      );
    });

    it('runs its schema twice without harm, and keeps the marks', async () => {
      await claim(5n);
      await one.run(fenceStatement(dialect).schema);
      expect(await markOf(one)).toBe('5');
    });

    it('keeps its marks in the table that it is told', async () => {
      const options = { table: `ma\`r"ks` };
      await one.run(fenceStatement(dialect, options).schema);
      await one.begin();
      await claimWith((sql, params) => one.run(sql, params), RESOURCE, 5n, { dialect, ...options });
      await one.run('COMMIT');
      expect(await markOf(one)).toBeUndefined();
      const quote = dialect === 'mysql' ? '`ma``r"ks`' : '"ma`r""ks"';
      expect(await one.rows(`SELECT resource FROM ${quote}`)).toEqual([
        expect.objectContaining({ resource: RESOURCE }),
      ]);
      await one.run(`DROP TABLE ${quote}`);
    });
  });

  // SQLite is no server.
  if (dialect !== 'sqlite')
    describe('claims at a server', () => {
      it('says so when it is run outside of a transaction: the row would be locked no longer than the claim', async () => {
        const outside = claimWith((sql, params) => one.run(sql, params), RESOURCE, 5n, { dialect });
        await expect(outside).rejects.toEqual(telling('ran outside of a transaction'));
      });

      it('keeps the mark of a commit over a crash, and takes back that of a claim without one', async () => {
        if (world.crash === undefined) throw new Error('This server cannot crash.');
        expect(await addEntry(one, 5n, 'first')).toBe('accepted');
        await one.begin();
        await claimWith((sql, params) => one.run(sql, params), RESOURCE, 7n, { dialect });
        await world.crash();
        const after = await connect();
        expect(await markOf(after)).toBe('5');
        expect(await addEntry(after, 4n, 'stale')).toBe(STALE);
        expect(await addEntry(after, 6n, 'second')).toBe('accepted');
        expect(await entriesOf(after)).toEqual(['first', 'second']);
      });
    });

  describe.each(LEVELS[dialect])('of two writers under %s,', (level) => {
    it('refuses the one that was paused before its claim, though its transaction had begun and read', async () => {
      const [older, newer] = [await connect(), await connect()];
      // Here what a transaction has read, or the whole file, is locked against others from then on.
      const readsASnapshot = sqliteJournal === 'WAL' && level === 'DEFERRED';
      const locksEarly = dialect === 'sqlite' ? !readsASnapshot : dialect === 'mysql' && level === 'SERIALIZABLE';
      let meanwhile: unknown;
      const outcome = await addEntry(older, 5n, 'older', {
        level,
        beforeClaim: async () => {
          await older.rows('SELECT count(*) FROM fencing_marks');
          meanwhile = await addEntry(newer, 6n, 'newer', { level });
        },
      });
      expect(meanwhile).toBe(locksEarly ? 'to repeat' : 'accepted');
      if (meanwhile === 'accepted') {
        expect([STALE, 'to repeat']).toContain(outcome);
        expect(await addUntilDone(older, 5n, 'older', { level })).toBe(STALE);
        expect(await entriesOf(one)).toEqual(['newer']);
        expect(await markOf(one)).toBe('6');
      } else {
        expect(outcome).toBe('accepted');
        expect(await entriesOf(one)).toEqual(['older']);
      }
    });

    it('lets the newer one in only behind the commit of the one that is between claim and write, and then reads it', async () => {
      const [older, newer] = [await connect(), await connect()];
      let next: Promise<string> | undefined;
      let isNextDone = false;
      const first = await addEntry(older, 5n, 'older', {
        level,
        afterClaim: async () => {
          next = addUntilDone(newer, 6n, 'newer', { level }).finally(() => (isNextDone = true));
          await pause(50);
          expect(isNextDone).toBe(false);
        },
      });
      expect(first).toBe('accepted');
      expect(await next).toBe('accepted');
      expect(await entriesOf(one)).toEqual(['older', 'newer']);
      expect(await addUntilDone(older, 5n, 'again', { level })).toBe(STALE);
    });

    it('keeps claims of many connections at once in order: commits rise, the mark is the highest, nothing is lost', async () => {
      const tokens = shuffledTokens(120, 7);
      const highest = tokens.length;
      const connections = await Promise.all(Array.from({ length: 6 }, () => connect()));
      const outcomes = new Map<bigint, string>();
      await Promise.all(
        connections.map(async (connection) => {
          for (let token = tokens.pop(); token !== undefined; token = tokens.pop()) {
            outcomes.set(token, await addUntilDone(connection, token, String(token), { level }));
          }
        }),
      );
      expect(new Set(outcomes.values())).toEqual(new Set(['accepted', STALE]));
      expect(outcomes.get(BigInt(highest))).toBe('accepted');
      expect(await markOf(one)).toBe(String(highest));

      const written = await one.rows('SELECT token FROM writes ORDER BY place');
      const inOrder = written.map(({ token }) => Number(token));
      expect(inOrder).toEqual([...inOrder].sort((a, b) => a - b));
      const accepted = [...outcomes].filter(([, outcome]) => outcome === 'accepted').map(([token]) => Number(token));
      expect(inOrder).toEqual(accepted.sort((a, b) => a - b));
      expect(await entriesOf(one)).toEqual(inOrder.map(String));
    });
  });

  describe('of two processes,', () => {
    it('refuses the one that was stopped before its claim, until a newer holder had written', async () => {
      const stale = await startWriter(5n, 'stale');
      await stale.pause();
      expect(await addUntilDone(one, 6n, 'newer')).toBe('accepted');
      stale.send('go on');
      await stale.resume();
      expect(await outcomeOf(stale)).toBe(STALE);
      expect(await entriesOf(one)).toEqual(['newer']);
    });

    it('keeps the newer one waiting for the one that was stopped between claim and write, and lets neither write be lost', async () => {
      const stopped = await startWriter(5n, 'stopped');
      await letClaim(stopped);
      await stopped.pause();
      let outcome: string | undefined;
      const newer = addUntilDone(one, 6n, 'newer').then((told) => (outcome = told));
      await pause(200);
      expect(outcome).toBeUndefined();
      stopped.send('go on');
      await stopped.resume();
      expect(await outcomeOf(stopped)).toBe('accepted');
      expect(await newer).toBe('accepted');
      expect(await entriesOf(one)).toEqual(['stopped', 'newer']);
    });

    it('takes the mark back with the write of one that is killed between claim and commit', async () => {
      await claim(5n);
      const killed = await startWriter(7n, 'killed');
      await letClaim(killed);
      await killed.kill();
      expect(await addUntilDone(one, 6n, 'next')).toBe('accepted');
      expect(await entriesOf(one)).toEqual(['next']);
      expect(await markOf(one)).toBe('6');
    });
  });

  return () => ({ world, connect });
}
