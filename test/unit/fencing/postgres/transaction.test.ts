import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import {
  type PostgresPool,
  type PostgresPoolClient,
  inTransaction,
} from '../../../../lib/fencing/postgres/transaction.js';

/** A pool of one connection on which the statements fail that begin with one of `broken`. */
function poolOf(broken: readonly string[] = [], commitAnswer = 'COMMIT') {
  const events = new EventEmitter();
  const statements: string[] = [];
  const released: unknown[] = [];
  const client = {
    on: (event: string, listener: (error: Error) => void) => events.on(event, listener),
    off: (event: string, listener: (error: Error) => void) => events.off(event, listener),
    query: async (text: string) => {
      statements.push(text);
      if (broken.some((start) => text.startsWith(start))) throw new Error(`${text} failed`);
      const rows = text.startsWith('SELECT txid_current()') ? [{ id: '7' }] : [];
      return { rows, rowCount: rows.length, command: text === 'COMMIT' ? commitAnswer : text };
    },
    release: (error?: Error) => void released.push(error?.message),
  } as unknown as PostgresPoolClient;
  const pool = { totalCount: 1, connect: async () => client } as unknown as PostgresPool;
  return { pool, events, statements, released };
}

async function result(): Promise<string> {
  return 'result';
}

function run(pool: PostgresPool, work: () => Promise<string> = result, transaction = '7'): Promise<string> {
  return inTransaction(pool, 70, { claim: async () => transaction, work });
}

describe('A transaction on a connection of a pool', () => {
  it('gives the connection back for others after a commit and after a rollback', async () => {
    const { pool, released, statements, events } = poolOf();
    expect(await run(pool)).toBe('result');
    const mine = new Error('mine');
    await expect(run(pool, () => Promise.reject(mine))).rejects.toBe(mine);
    expect(statements[0]).toBe('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 70');
    expect(statements.filter((text) => !/^(BEGIN|SELECT)/.test(text))).toEqual(['COMMIT', 'ROLLBACK']);
    expect(released).toEqual([undefined, undefined]);
    expect(events.listenerCount('error')).toBe(0);
  });

  it.each(['BEGIN', 'COMMIT'])('closes the connection when %s fails, and says why', async (start) => {
    const { pool, released } = poolOf([start]);
    await expect(run(pool)).rejects.toThrow(`${start}`);
    expect(released).toEqual([expect.stringContaining('failed')]);
  });

  it('tells what went wrong in the work, also where the rollback fails as well, and closes the connection', async () => {
    const { pool, released } = poolOf(['ROLLBACK']);
    const mine = new Error('mine');
    await expect(run(pool, () => Promise.reject(mine))).rejects.toBe(mine);
    expect(released).toEqual(['ROLLBACK failed']);
  });

  it('does not wait for work whose connection was cut, and closes the connection', async () => {
    const { pool, released, events, statements } = poolOf();
    const never = new Promise<never>(() => undefined);
    const cut = run(pool, () => {
      events.emit('error', new Error('cut'));
      return never;
    });
    await expect(cut).rejects.toThrow('cut');
    expect(released).toEqual(['cut']);
    expect(statements).toHaveLength(1);
    expect(events.listenerCount('error')).toBe(0);
  });

  it('does not commit what is another transaction by then', async () => {
    const { pool, statements, released } = poolOf();
    await expect(run(pool, result, '6')).rejects.toMatchObject({ code: 'LOCK_CONFIGURATION' });
    expect(statements.at(-1)).toBe('ROLLBACK');
    expect(statements).not.toContain('COMMIT');
    expect(released).toEqual([undefined]);
  });

  it('does not take a rollback for a commit', async () => {
    const { pool } = poolOf([], 'ROLLBACK');
    await expect(run(pool)).rejects.toThrow('so nothing was written');
  });
});
