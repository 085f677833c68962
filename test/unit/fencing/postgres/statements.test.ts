import { describe, expect, it } from '@jest/globals';
import {
  highestStatement,
  updateStatement,
  quoteName,
  quoteTable,
} from '../../../../lib/fencing/postgres/statements.js';
import { PostgresFence } from '../../../../lib/fencing/postgres/postgres-fence.js';
import type { PostgresPool } from '../../../../lib/fencing/postgres/transaction.js';
import { telling } from '../../../support/telling.js';

const pool = {} as PostgresPool;

describe('the statements for PostgreSQL', () => {
  it('check and write at once, with the values as parameters', () => {
    const update = { table: 'shop.orders', set: { state: 'paid', at: null }, where: { id: 7n, part: null } };
    expect(updateStatement(update, 2n ** 63n - 1n)).toEqual({
      text:
        'UPDATE "shop"."orders" SET "state" = $2, "at" = $3, "fence" = $1::bigint ' +
        'WHERE "id" = $4 AND "part" IS NULL AND COALESCE("fence", 0) <= $1::bigint',
      values: ['9223372036854775807', 'paid', null, '7'],
    });
    expect(highestStatement({ ...update, column: 'mark' }).text).toContain('max("mark")');
  });

  it('quote every name', () => {
    expect(quoteName('a"b')).toBe('"a""b"');
    expect(quoteTable('a.b"; --')).toBe('"a"."b""; --"');
    for (const wrong of ['', 'a\0', 'x'.repeat(64), 'ä'.repeat(32), undefined as unknown as string]) {
      expect(() => quoteName(wrong)).toThrow('Not a name for PostgreSQL');
    }
    expect(() => quoteTable('a..b')).toThrow('Not a name for PostgreSQL');
  });

  it('name the schema of the table of marks, so that no search path decides which one it is', async () => {
    const asked: string[] = [];
    const answering = {
      totalCount: 1,
      query: async (text: string) => {
        asked.push(text);
        return { rows: [{ transaction: '1', token: '1', mark: '1' }], rowCount: 1, command: '' };
      },
    } as unknown as PostgresPool;
    for (const table of [undefined, 'marks', 'shop.marks']) {
      const fence = new PostgresFence(table === undefined ? { pool: answering } : { pool: answering, table });
      await fence.claim('/a', 1n);
      await fence.highest('/a');
    }
    const tables = asked.map((text) => /(?:INTO|FROM) (\S+)/.exec(text)?.[1]);
    const expected = ['"public"."fencing_marks"', '"public"."marks"', '"shop"."marks"'];
    expect(tables).toEqual(expected.flatMap((table) => [table, table]));
    expect(PostgresFence.migration()).toContain('CREATE TABLE IF NOT EXISTS "public"."fencing_marks"');
    expect(PostgresFence.migration('marks')).toContain('CREATE TABLE IF NOT EXISTS "public"."marks"');
  });

  it('make the table and the column', () => {
    expect(PostgresFence.migration('shop.marks')).toContain('CREATE TABLE IF NOT EXISTS "shop"."marks"');
    expect(PostgresFence.columnMigration('orders')).toBe(
      'ALTER TABLE "orders" ADD COLUMN IF NOT EXISTS "fence" bigint NOT NULL DEFAULT 0;\n',
    );
  });
});

describe('PostgresFence', () => {
  it.each([-1, 1.5, Number.NaN, 2 ** 31])('refuses %p for idleTimeoutMs', (idleTimeoutMs) => {
    expect(() => new PostgresFence({ pool, idleTimeoutMs })).toThrow('idleTimeoutMs: must be');
  });

  it('refuses what names no resource, before any input or output', async () => {
    const fence = new PostgresFence({ pool });
    for (const wrong of ['', 'a\0', 7 as unknown as string]) {
      await expect(fence.claim(wrong, 1n)).rejects.toThrow(telling('Not the name of a resource'));
    }
  });
});
