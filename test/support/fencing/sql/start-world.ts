import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fenceStatement } from '../../../../lib/fencing/sql/fence-statement.js';
import { startMariaDb } from '../../mariadb/start-mariadb.js';
import { packagesFolder } from '../../packages/install-packages.js';
import { startPostgres } from '../../postgres/start-postgres.js';
import { folderRemoved } from '../../process/reaper.js';
import { makeWorkspace } from '../../zookeeper/workspace.js';
import { connectTo } from './connect.js';
import type { SqlPlace } from './sql-world.js';

/** A database of a test's own, with a document, a log of writes, and the table of marks. */
export interface SqlWorld {
  readonly place: SqlPlace;
  /** One document without text, no entry in the log, no mark. */
  reset(): Promise<void>;
  /** Ends as in a crash of the server, and starts again. A database in a file has no server. */
  crash?(): Promise<void>;
  stop(): Promise<void>;
}

/** @param sqliteJournal how SQLite keeps a transaction apart from the file until it is committed */
export async function startWorld(dialect: SqlPlace['dialect'], sqliteJournal = 'DELETE'): Promise<SqlWorld> {
  switch (dialect) {
    case 'postgres': {
      const server = await startPostgres({ durable: true });
      const crash = async (): Promise<void> => {
        await server.crash();
        await server.start();
      };
      return { ...resettable({ dialect, url: server.url }), crash, stop: () => server.stop() };
    }
    case 'mysql': {
      const packages = await packagesFolder('databases');
      const server = await startMariaDb();
      const crash = async (): Promise<void> => {
        await server.crash();
        await server.start();
      };
      return { ...resettable({ dialect, port: server.port, packages }), crash, stop: () => server.stop() };
    }
    case 'sqlite': {
      const packages = await packagesFolder('databases');
      const folder = await makeWorkspace();
      const stop = async (): Promise<void> => {
        await rm(folder, { recursive: true, force: true });
        folderRemoved(folder);
      };
      const place = { dialect, file: join(folder, 'test.db'), packages } as const;
      // The file remembers it.
      const connection = await connectTo(place);
      await connection.run(`PRAGMA journal_mode = ${sqliteJournal}`);
      await connection.close();
      return { ...resettable(place), stop };
    }
  }
}

/** The column whose numbers rise in the order of the inserts. */
const ROW_NUMBERS = {
  postgres: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  mysql: 'BIGINT AUTO_INCREMENT PRIMARY KEY',
  sqlite: 'INTEGER PRIMARY KEY AUTOINCREMENT',
};

function resettable(place: SqlPlace): Pick<SqlWorld, 'place' | 'reset'> {
  return {
    place,
    reset: async () => {
      const connection = await connectTo(place);
      try {
        for (const table of ['fencing_marks', 'documents', 'writes'])
          await connection.run(`DROP TABLE IF EXISTS ${table}`);
        await connection.run(fenceStatement(place.dialect).schema);
        await connection.run('CREATE TABLE documents (name varchar(50) PRIMARY KEY, content text NOT NULL)');
        await connection.run(`INSERT INTO documents VALUES ('one', '')`);
        await connection.run(`CREATE TABLE writes (place ${ROW_NUMBERS[place.dialect]}, token varchar(20) NOT NULL)`);
      } finally {
        await connection.close();
      }
    },
  };
}
