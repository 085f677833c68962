import { claimWith } from '../../../../lib/fencing/sql/claim-with.js';
import { fenceStatement } from '../../../../lib/fencing/sql/fence-statement.js';
import { connectTo } from '../sql/connect.js';
import type { SqlPlace } from '../sql/sql-world.js';
import type { ProofStore, StoreSettings } from './proof-store.js';

/** A text that is protected by a mark, and one that is open to all. */
export async function prepareMariaDb(place: SqlPlace): Promise<void> {
  const connection = await connectTo(place);
  await connection.run(fenceStatement(place.dialect).schema);
  await connection.run('CREATE TABLE texts (name varchar(50) PRIMARY KEY, content text NOT NULL)');
  await connection.run(`INSERT INTO texts VALUES ('guarded', ''), ('open', '')`);
  await connection.close();
}

/** A transaction of the application's own, as it has one with an ORM. */
export async function mariaDbStore({ mariaDb, isGuarded }: StoreSettings): Promise<ProofStore> {
  const connection = await connectTo(mariaDb);
  const name = isGuarded ? 'guarded' : 'open';

  async function inTransaction(token: string, resource: string, write: () => Promise<unknown>): Promise<void> {
    await connection.begin();
    try {
      const run = (sql: string, params: string[]): unknown => connection.run(sql, params);
      if (isGuarded) await claimWith(run, resource, token, { dialect: mariaDb.dialect });
      await write();
      await connection.run('COMMIT');
    } catch (error) {
      await connection.run('ROLLBACK');
      throw error;
    }
  }

  return {
    name: 'mariadb',
    claim: (shown) => inTransaction(shown.fencingToken, shown.key, async () => undefined),
    read: async () => {
      const [row] = await connection.rows('SELECT content FROM texts WHERE name = ?', [name]);
      return String(row?.['content']);
    },
    write: (text, shown) =>
      inTransaction(shown.fencingToken, shown.key, () =>
        connection.run('UPDATE texts SET content = ? WHERE name = ?', [text, name]),
      ),
    close: () => connection.close(),
  };
}
