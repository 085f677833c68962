import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { claimWith, type RunSql } from '../../../../lib/fencing/sql/claim-with.js';
import type { SqlDialect } from '../../../../lib/fencing/sql/dialects.js';
import { fenceStatement } from '../../../../lib/fencing/sql/fence-statement.js';
import { LockHandle } from '../../../../lib/lock/handle.js';
import { telling } from '../../../support/telling.js';

const R = '/locks/orders/42';

/** Answers a claim in SQLite, whose first statement answers nothing of use. */
function answering(answer: unknown): RunSql {
  return (sql) => (sql.startsWith('SELECT') ? answer : { changes: 1 });
}

function handle(members: PropertyDescriptorMap): LockHandle {
  return Object.create(LockHandle.prototype, members) as LockHandle;
}

describe('claimWith', () => {
  it.each<[string, unknown]>([
    ['the rows', [{ mark: '5' }]],
    ['one row', { mark: '5' }],
    ['{ rows }', { rows: [{ mark: '5' }], rowCount: 1 }],
    ['[rows, fields]', [[{ mark: '5' }], [{ name: 'mark' }]]],
    ['rows with a bigint', [{ mark: 5n }]],
    ['a promise of the rows', Promise.resolve([{ mark: '5' }])],
  ])('reads the mark out of %s', async (_what, answer) => {
    await claimWith(answering(answer), R, 5n, { dialect: 'sqlite' });
    await expect(claimWith(answering(answer), R, 4n, { dialect: 'sqlite' })).rejects.toMatchObject({
      code: 'STALE_FENCING_TOKEN',
    });
  });

  it.each<[string, unknown]>([
    ['nothing, as where a return is missing', undefined],
    ['null', null],
    ['no rows', []],
    ['{ rows } without any', { rows: [] }],
    ['how many rows were changed', { affectedRows: 1 }],
    ['another column', [{ token: '5' }]],
    ['a number, which may have been rounded', [{ mark: 5 }]],
    ['a lower mark than was claimed', [{ mark: '4' }]],
    ['no text of digits', [{ mark: '5.0' }]],
    ['rows as lists', [['5']]],
  ])('says what it needs where run answers %s', async (_what, answer) => {
    await expect(claimWith(answering(answer), R, 5n, { dialect: 'sqlite' })).rejects.toEqual(
      telling('Whether /locks/orders/42 was claimed is not known'),
    );
  });

  it.each<[SqlDialect, string[][]]>([
    ['postgres', [[R, '5'], []]],
    ['mysql', [[R, '5', '5'], [R]]],
    ['sqlite', [[R, '5'], [R]]],
  ])('sends text alone to %s, a placeholder for each parameter and in their order', async (dialect, expected) => {
    const sent: { sql: string; params: string[] }[] = [];
    const mark = { mark: '5', transaction: '1', inside: 1, name: Buffer.from(R).toString('hex') };
    await claimWith((sql, params) => (sent.push({ sql, params }), [mark]), R, 5n, { dialect });
    expect(sent.map(({ params }) => params)).toEqual(expected);
    for (const { sql, params } of sent) {
      const placeholders = params.map((_, index) => (dialect === 'postgres' ? `$${index + 1}` : '?'));
      expect(sql.match(/\$\d+|\?/g) ?? []).toEqual(placeholders);
    }
  });

  it('is run in PostgreSQL unless told otherwise', async () => {
    const sent: string[] = [];
    await claimWith((sql) => (sent.push(sql), [{ mark: '5', transaction: '1' }]), R, 5n);
    expect(sent).toEqual(
      fenceStatement('postgres')
        .claim(R, 5n)
        .map(({ sql }) => sql),
    );
  });

  it('tells a run outside of a transaction by the ids of two transactions', async () => {
    let transaction = 0;
    const each: RunSql = () => ({ rows: [{ mark: '5', transaction: String((transaction += 1)) }] });
    await expect(claimWith(each, R, 5n)).rejects.toEqual(
      telling('ran outside of a transaction, or over several connections'),
    );
    await expect(claimWith(each, R, 4n)).rejects.toMatchObject({ code: 'STALE_FENCING_TOKEN' });
  });

  it('lets an error of the database come out as it is, and sends nothing behind it', async () => {
    const failure = new Error('deadlock detected');
    const sent: string[] = [];
    const run: RunSql = (sql) => {
      sent.push(sql);
      throw failure;
    };
    await expect(claimWith(run, R, 5n)).rejects.toBe(failure);
    expect(sent).toHaveLength(1);
  });

  it('refuses what can only be a mistake before anything is sent', async () => {
    const sent: string[] = [];
    const run: RunSql = (sql) => sent.push(sql);
    await expect(claimWith('SELECT 1' as never, R, 5n)).rejects.toEqual(telling('takes a function (sql, params)'));
    await expect(claimWith(run, '', 5n)).rejects.toEqual(telling('Not the name of a resource'));
    await expect(claimWith(run, R, 0n)).rejects.toMatchObject({ code: 'INVALID_FENCING_TOKEN' });
    await expect(claimWith(run, R, 5n, { dialect: 'oracle' as never })).rejects.toEqual(
      telling('dialect: must be one of'),
    );
    await expect(claimWith(run, R, 5n, { dialekt: 'mysql' } as never)).rejects.toEqual(
      telling('dialekt: is not an option'),
    );
    await expect(claimWith(run, R, 5n, { dialect: 'mysql', table: 'a..b' })).rejects.toEqual(
      telling('Not the name of a table'),
    );
    expect(sent).toEqual([]);
  });

  it('never lets a reader raise the mark', async () => {
    const sent: string[] = [];
    const reader = handle({ key: { value: R }, mode: { value: 'read' } });
    const claim = claimWith((sql) => sent.push(sql), R, reader);
    await expect(claim).rejects.toEqual(telling('is held as read, which gives no right to write'));
    expect(sent).toEqual([]);
  });

  it('takes only the lock that it was told of', async () => {
    const other = handle({
      key: { value: '/b' },
      mode: { value: 'exclusive' },
    });
    const claim = claimWith(() => [], R, other, { lockKey: (resource) => resource });
    await expect(claim).rejects.toEqual(telling('is protected by the lock /locks/orders/42 (lockKey), not by /b'));
  });
});

describe('fenceStatement', () => {
  it.each<[SqlDialect, string, string]>([
    ['postgres', '"public"."fencing_marks"', '"shop"."marks"'],
    ['mysql', '`fencing_marks`', '`shop`.`marks`'],
    ['sqlite', '"main"."fencing_marks"', '"shop"."marks"'],
  ])('names the table of %s wherever it is used', (dialect, byDefault, named) => {
    for (const [options, table] of [
      [{}, byDefault],
      [{ table: 'shop.marks' }, named],
    ] as const) {
      const { schema, claim } = fenceStatement(dialect, options);
      expect(schema).toContain(`CREATE TABLE IF NOT EXISTS ${table} (`);
      for (const { sql } of claim(R, 5n)) if (sql.includes('marks')) expect(sql).toContain(` ${table} `);
    }
  });

  it.each<SqlDialect>(['postgres', 'mysql', 'sqlite'])('makes the table for %s that its page shows', (dialect) => {
    const page = readFileSync(join(import.meta.dirname, '../../../../docs/fencing-transactions.md'), 'utf8');
    expect(page).toContain(fenceStatement(dialect).schema);
  });

  it('takes no half of a claim in PostgreSQL, which could not tell whether there was a transaction', () => {
    const { check } = fenceStatement('postgres');
    for (const answers of [
      [[{ mark: '5' }]],
      [[{ mark: '5', transaction: '1' }]],
      [{ mark: '5' }, { transaction: '1' }],
      [{ mark: '5' }, {}],
    ]) {
      expect(() => check(answers, R, 5n)).toThrow(telling('the answers have no column transaction'));
    }
    check([{ mark: '5', transaction: '1' }, { transaction: '1' }], R, 5n);
  });

  it.each<[string, unknown]>([
    ['in capitals', '/LOCKS/ORDERS/42'],
    ['cut off', '/locks/orders/4'],
    ['of another character set', '/locks/orders/?'],
  ])('takes no mark in MySQL that is under another name, %s', (_what, name) => {
    const { check } = fenceStatement('mysql');
    const answers = (shown: unknown, mark = '5'): unknown[] => [{}, [{ mark, inside: 1, name: shown }]];
    const hex = Buffer.from(String(name)).toString('hex').toUpperCase();
    for (const mark of ['5', '6']) {
      expect(() => check(answers(hex, mark), R, 5n)).toThrow(telling(`under another name, "${String(name)}"`));
    }
    expect(() => check(answers(undefined), R, 5n)).toThrow(telling('the answers have no column name'));
    check(answers(Buffer.from(R).toString('hex').toUpperCase()), R, 5n);
  });

  it.each<SqlDialect>(['postgres', 'mysql', 'sqlite'])('judges by a token alone in %s', (dialect) => {
    const { check } = fenceStatement(dialect);
    for (const token of [5, '-5', {}, undefined]) {
      expect(() => check([{ mark: '5' }], R, token as never)).toThrow(telling('Not a fencing token'));
    }
  });

  it('refuses tokens and names that are none', () => {
    const { claim } = fenceStatement('postgres');
    expect(() => claim(R, 0n)).toThrow(telling('Not a fencing token'));
    expect(() => claim('', 5n)).toThrow(telling('Not the name of a resource'));
  });
});
