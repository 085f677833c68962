import { expect } from '@jest/globals';
import { connectTo } from '../sql/connect.js';
import type { SqlConnection, SqlPlace } from '../sql/sql-world.js';
import { markOf } from '../sql/writer.js';
import { shuffledTokens } from '../tokens.js';
import type { SnippetApplication } from './run-snippet.js';

const LARGEST = 2n ** 63n - 1n;
const STALE = 'STALE_FENCING_TOKEN';

async function newOrders(connection: SqlConnection): Promise<void> {
  await connection.run('DELETE FROM fencing_marks');
  await connection.run('DROP TABLE IF EXISTS orders');
  await connection.run('CREATE TABLE orders (id int PRIMARY KEY, state varchar(20) NOT NULL)');
  await connection.run(`INSERT INTO orders VALUES (1, 'new'), (2, 'new'), (3, 'new'), (4, 'new')`);
}

/** That the snippet of an ORM writes for the newest holder alone, with tokens that are next to each other at the end of 63 bits. */
export async function expectFenced(application: SnippetApplication, place: SqlPlace): Promise<void> {
  const connection = await connectTo(place);
  try {
    await newOrders(connection);
    const odd = 2n ** 53n + 1n;
    const shuffled = shuffledTokens(16).map((token) => ({ token: LARGEST - 16n + token, id: 4 }));
    const outcomes = await application.write(place, [
      [{ token: odd, id: 1 }],
      [{ token: odd - 1n, id: 2 }],
      [{ token: odd, id: 3 }],
      shuffled,
      [{ token: LARGEST - 1n, id: 2 }],
    ]);
    const atOnce = outcomes[3];
    expect(outcomes).toEqual([['accepted'], [STALE], ['accepted'], atOnce, [STALE]]);
    expect([...new Set(atOnce)].sort()).toEqual([STALE, 'accepted']);
    expect(atOnce?.[shuffled.findIndex(({ token }) => token === LARGEST)]).toBe('accepted');
    const states = (await connection.rows('SELECT id, state FROM orders ORDER BY id')).map(({ state }) => state);
    expect(states).toEqual(['settled', 'new', 'settled', 'settled']);
    expect(await markOf(connection, '/locks/orders')).toBe(LARGEST.toString());
  } finally {
    await connection.close();
  }
}
