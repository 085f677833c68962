/** What stands around the snippet of an ORM: the reader's own application, with one table. */
export interface OrmApplication {
  /** How the page calls it. */
  readonly name: string;
  /** Tells its snippet from the others. */
  readonly imports: string;
  /** Files of the application; `app.ts` exports `open(place)`. */
  readonly files: Readonly<Record<string, string>>;
}

const MYSQL_LOGIN = `host: '127.0.0.1', user: 'root', database: 'test'`;

export const APPLICATIONS: readonly OrmApplication[] = [
  {
    name: 'TypeORM',
    imports: `from 'typeorm'`,
    files: {
      'order.entity.ts': `import { Column, Entity, PrimaryColumn } from 'typeorm';
        @Entity('orders') export class Order {
          @PrimaryColumn('int') id!: number;
          @Column('varchar') state!: string;
        }`,
      'app.ts': `import 'reflect-metadata';
        import { DataSource } from 'typeorm';
        import { Order } from './order.entity.js';
        export async function open({ dialect, url, port }: { dialect: string; url: string; port: number }) {
          const place = dialect === 'mysql' ? { type: 'mysql', ${MYSQL_LOGIN.replace('user:', 'username:')}, port } : { type: 'postgres', url };
          const db = await new DataSource({ ...place, entities: [Order] } as never).initialize();
          return { db, close: () => db.destroy() };
        }`,
    },
  },
  {
    name: 'Drizzle',
    imports: `from 'drizzle-orm'`,
    files: {
      'orders.ts': `import { integer, pgTable, text } from 'drizzle-orm/pg-core';
        export const orders = pgTable('orders', { id: integer().primaryKey(), state: text().notNull() });`,
      'app.ts': `import pg from 'pg';
        import { createPool } from 'mysql2/promise';
        import { drizzle } from 'drizzle-orm/node-postgres';
        import { drizzle as overMysql } from 'drizzle-orm/mysql2';
        export async function open({ dialect, url, port }: { dialect: string; url: string; port: number }) {
          const pool = dialect === 'mysql' ? createPool({ ${MYSQL_LOGIN}, port }) : new pg.Pool({ connectionString: url });
          const db = (dialect === 'mysql' ? overMysql({ client: pool as never }) : drizzle({ client: pool as never })) as never;
          return { db, close: () => pool.end() };
        }`,
    },
  },
  {
    name: 'MikroORM',
    imports: `from '@mikro-orm/`,
    files: {
      'order.entity.ts': `import { Entity, PrimaryKey, Property } from '@mikro-orm/core';
        @Entity({ tableName: 'orders' }) export class Order {
          @PrimaryKey({ type: 'number', autoincrement: false }) id!: number;
          @Property({ type: 'string' }) state!: string;
        }`,
      'app.ts': `import { MikroORM } from '@mikro-orm/postgresql';
        import { MikroORM as MysqlOrm } from '@mikro-orm/mysql';
        import { Order } from './order.entity.js';
        export async function open({ dialect, url, port }: { dialect: string; url: string; port: number }) {
          const entities = [Order];
          const orm = dialect === 'mysql'
            ? await MysqlOrm.init({ entities, host: '127.0.0.1', port, user: 'root', dbName: 'test' })
            : await MikroORM.init({ entities, clientUrl: url, dbName: 'postgres' });
          return { db: orm.em as never, close: () => orm.close() };
        }`,
    },
  },
  {
    name: 'Kysely',
    imports: `from 'kysely'`,
    files: {
      'app.ts': `import pg from 'pg';
        import { createPool } from 'mysql2';
        import { Kysely, MysqlDialect, PostgresDialect } from 'kysely';
        export async function open({ dialect, url, port }: { dialect: string; url: string; port: number }) {
          const made = dialect === 'mysql'
            ? new MysqlDialect({ pool: createPool({ ${MYSQL_LOGIN}, port }) as never })
            : new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) as never });
          const db = new Kysely<{ orders: { id: number; state: string } }>({ dialect: made });
          return { db, close: () => db.destroy() };
        }`,
    },
  },
];

export const PRISMA: OrmApplication = {
  name: 'Prisma',
  imports: `from './generated/client.js'`,
  files: {
    'schema.prisma': `generator client {
  provider            = "prisma-client"
  output              = "./generated"
  moduleFormat        = "esm"
  importFileExtension = "js"
}
datasource db {
  provider = "postgresql"
}
model Order {
  id    Int    @id
  state String
  @@map("orders")
}
`,
    'prisma.config.ts': `export default { schema: './schema.prisma' };`,
    'app.ts': `import { PrismaPg } from '@prisma/adapter-pg';
      import { PrismaClient } from './generated/client.js';
      export async function open({ url }: { dialect: string; url: string; port: number }) {
        const db = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) });
        return { db, close: () => db.$disconnect() };
      }`,
  },
};

/** Settles orders through the snippet, with locks whose process does not know that they are over, and prints how it went. */
export const SCRIPT = `import { LockHandle } from 'nestjs-zookeeper-lock';
import { open } from './app.js';
import { settle } from './snippet.js';

const { place, rounds } = JSON.parse(process.argv[2] ?? '{}') as { place: never; rounds: { token: string; id: number }[][] };

function lockOf(token: string): LockHandle {
  const members = { key: '/locks/orders', mode: 'exclusive', fencingToken: BigInt(token), whenSure: async () => undefined };
  const described = Object.entries(members).map(([name, value]) => [name, { value }]);
  return Object.create(LockHandle.prototype, Object.fromEntries(described) as PropertyDescriptorMap) as LockHandle;
}

const { db, close } = await open(place);
const outcomes: string[][] = [];
for (const round of rounds) {
  outcomes.push(await Promise.all(round.map(({ token, id }) =>
    settle(db, lockOf(token), id).then(
      () => 'accepted',
      (error: unknown) => String((error as { code?: unknown }).code ?? error),
    ))));
}
await close();
console.log(JSON.stringify(outcomes));
process.exit();
`;
