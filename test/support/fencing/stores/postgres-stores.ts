import pg from 'pg';
import { PostgresFence } from '../../../../lib/fencing/postgres/postgres-fence.js';
import type { ProofStore, StoreSettings } from './proof-store.js';

/** Rows that are protected by a mark in a table of its own, or by a column; and as many that are open to all. */
export async function preparePostgres(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('CREATE TABLE documents (name text PRIMARY KEY, content text NOT NULL)');
  await client.query(
    `INSERT INTO documents VALUES ('mark', ''), ('column', ''), ('open mark', ''), ('open column', '')`,
  );
  await client.query(PostgresFence.migration());
  await client.query(PostgresFence.columnMigration('documents'));
  await client.end();
}

export function postgresStores({ postgresUrl, isGuarded }: StoreSettings): ProofStore[] {
  const pool = new pg.Pool({ connectionString: postgresUrl, max: 4 });
  pool.on('error', () => undefined);
  const fence = new PostgresFence({ pool });
  const prefix = isGuarded ? '' : 'open ';
  const [mark, column] = [`${prefix}mark`, `${prefix}column`];
  const sql = 'UPDATE documents SET content = $2 WHERE name = $1';

  async function read(name: string): Promise<string> {
    const { rows } = await pool.query<{ content: string }>('SELECT content FROM documents WHERE name = $1', [name]);
    return rows[0]?.content ?? '';
  }

  return [
    {
      name: 'postgres-mark',
      claim: async (shown) => (isGuarded ? fence.claim(shown.key, shown.fencingToken) : undefined),
      read: () => read(mark),
      write: async (text, shown) => {
        const values = [mark, text];
        if (isGuarded) await fence.guarded(shown.key, shown.fencingToken, (client) => client.query(sql, values));
        else await pool.query(sql, values);
      },
      close: () => pool.end(),
    },
    {
      name: 'postgres-column',
      claim: async (shown) => {
        const row = { table: 'documents', set: {}, where: { name: column } };
        if (isGuarded) await fence.update(shown.key, shown.fencingToken, row);
      },
      read: () => read(column),
      write: async (text, shown) => {
        const row = { table: 'documents', set: { content: text }, where: { name: column } };
        if (isGuarded) await fence.update(shown.key, shown.fencingToken, row);
        else await pool.query(sql, [column, text]);
      },
      close: async () => undefined,
    },
  ];
}
