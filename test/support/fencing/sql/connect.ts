import pg from 'pg';
import { loadPackage } from '../../packages/install-packages.js';
import type { SqlConnection, SqlPlace, SqlRow } from './sql-world.js';

/** Of `mysql2/promise`, what the tests use. */
interface MysqlModule {
  readonly createConnection: (options: object) => Promise<MysqlConnection>;
}
interface MysqlConnection {
  execute(sql: string, params: readonly unknown[]): Promise<[SqlRow[], unknown]>;
  query(sql: string): Promise<[SqlRow[], unknown]>;
  destroy(): void;
  on(event: 'error', listener: () => void): void;
}

/** Of `node:sqlite`, which older versions of Node.js lack, and of the package that has the same for them. */
interface SqliteModule {
  DatabaseSync: new (file: string, options: object) => SqliteDatabase;
}
interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): { all(...params: readonly unknown[]): SqlRow[] };
  close(): void;
}

export async function connectTo(place: SqlPlace): Promise<SqlConnection> {
  switch (place.dialect) {
    case 'postgres':
      return connectToPostgres(place.url);
    case 'mysql':
      return connectToMysql(place.port, place.packages);
    case 'sqlite':
      return openSqlite(place.file, place.packages);
  }
}

async function connectToPostgres(url: string): Promise<SqlConnection> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return {
    dialect: 'postgres',
    run: (sql, params) => client.query(sql, params as unknown[]),
    rows: async (sql, params) => (await client.query<SqlRow>(sql, params as unknown[])).rows,
    begin: (level = 'READ COMMITTED') => client.query(`BEGIN ISOLATION LEVEL ${level}`),
    close: () => client.end(),
  };
}

async function connectToMysql(port: number, packages: string): Promise<SqlConnection> {
  const { createConnection } = loadPackage<MysqlModule>(packages, 'mysql2/promise');
  const connection = await createConnection({ host: '127.0.0.1', port, user: 'root', database: 'test' });
  connection.on('error', () => undefined);
  return {
    dialect: 'mysql',
    run: (sql, params = []) => connection.execute(sql, params),
    rows: async (sql, params = []) => (await connection.execute(sql, params))[0],
    begin: async (level = 'REPEATABLE READ') => {
      await connection.query(`SET TRANSACTION ISOLATION LEVEL ${level}`);
      await connection.query('START TRANSACTION');
    },
    close: async () => connection.destroy(),
  };
}

/** No waiting for a lock: that would hold up this process, and whoever has the lock may be in it. */
async function openSqlite(file: string, packages: string): Promise<SqlConnection> {
  const { DatabaseSync } = await sqliteModule(packages);
  const database = new DatabaseSync(file, { timeout: 0 });
  const rows = async (sql: string, params: readonly unknown[] = []): Promise<SqlRow[]> =>
    database.prepare(sql).all(...params);
  return {
    dialect: 'sqlite',
    run: rows,
    rows,
    begin: async (level = 'DEFERRED') => database.exec(`BEGIN ${level}`),
    close: async () => database.close(),
  };
}

async function sqliteModule(packages: string): Promise<SqliteModule> {
  const builtIn = 'node:sqlite';
  return import(builtIn).then(
    (found) => found as SqliteModule,
    () => loadPackage<SqliteModule>(packages, '@photostructure/sqlite'),
  );
}
