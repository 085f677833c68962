import { describe, expect, it } from '@jest/globals';
import { COLUMNS } from '../../../../lib/extras/dashboard/columns.js';
import { listAddress, readListQuery } from '../../../../lib/extras/dashboard/list-query.js';
import { ROWS_ON_A_PAGE, selectLocks } from '../../../../lib/extras/dashboard/select-locks.js';
import { madeUpAbandoned, madeUpContender, madeUpRow, madeUpScan } from '../../../support/dashboard/made-up-locks.js';

const query = (text: string) => readListQuery(new URLSearchParams(text));
const AT = new Date('2027-01-01T00:00:00Z');
const { locks } = madeUpScan(10_000, AT);
const holder = madeUpContender('/locks/b', { label: 'Zebra', host: 'h', pid: 9, token: 77n, ageMs: 5 });
const few = [
  madeUpRow({ key: '/locks/b', template: '/locks/:id', holders: [holder], waiting: 2, longestWaitMs: 3 }),
  madeUpRow({ key: '/locks/a', abandoned: madeUpAbandoned('Gone.away', 'far', 66n, AT) }),
  madeUpRow({ key: '/locks/c', waiting: 1, longestWaitMs: 9 }),
];
const keys = (text: string) =>
  selectLocks(few, query(text))
    .rows.map(({ key }) => key.slice(-1))
    .join('');

describe('A page of ten thousand locks', () => {
  it('has fifty of them; all pages together have each lock once, in one order', () => {
    const pages = Array.from({ length: 200 }, (_, index) => selectLocks(locks, query(`sort=key&page=${index + 1}`)));
    expect(pages.map(({ rows }) => rows.length)).toEqual(Array(200).fill(ROWS_ON_A_PAGE));
    expect(pages[3]).toMatchObject({ total: 10_000, pages: 200, page: 4, first: 151 });
    const all = pages.flatMap(({ rows }) => rows.map(({ key }) => key));
    expect(all).toEqual(locks.map(({ key }) => key).sort());
  });

  it('is the last one where the address names one behind it, and the first where it names none', () => {
    expect(selectLocks(locks, query('page=201')).page).toBe(200);
    for (const page of ['0', '-1', '1.5', 'x', '']) expect(selectLocks(locks, query(`page=${page}`)).page).toBe(1);
  });

  it('leaves the scan in the order in which others are shown it', () => {
    const before = few.map(({ key }) => key);
    selectLocks(few, query('sort=key'));
    expect(few.map(({ key }) => key)).toEqual(before);
  });
});

describe('The order of the list', () => {
  it('is by the longest queue, unless the address says otherwise', () => {
    expect(keys('')).toBe('bca');
    expect(keys('sort=nonsense')).toBe('bca');
  });

  it.each([
    ['key', 'abc', 'cba'],
    // Of equals the key decides; what has no value comes last either way.
    ['template', 'bac', 'bac'],
    ['state', 'acb', 'bca'],
    ['holder', 'bac', 'bac'],
    ['age', 'bac', 'bac'],
    ['waiting', 'acb', 'bca'],
    ['longest', 'bca', 'cba'],
  ])('may be by %s', (column, ascending, descending) => {
    expect([keys(`sort=${column}`), keys(`sort=-${column}`)]).toEqual([ascending, descending]);
  });

  it('may be by each column that there is', () => {
    for (const { id, valueOf } of COLUMNS) {
      const { rows } = selectLocks(locks, query(`sort=-${id}`));
      const values = rows.map(valueOf).filter((value) => value !== undefined);
      const sorted = [...values].sort((one, other) => (one < other ? 1 : one > other ? -1 : 0));
      expect([id, values]).toEqual([id, sorted]);
    }
  });
});

describe('The search', () => {
  it.each([
    ['/LOCKS/B', 'b'],
    ['zebra', 'b'],
    ['h:9', 'b'],
    ['77', 'b'],
    [':id', 'b'],
    ['gone far 66', 'a'],
    ['held', 'b'],
    ['free', 'c'],
    ['zebra gone', ''],
    ['  ', 'bca'],
  ])('finds for %j: %j', (text, found) => {
    expect(keys(new URLSearchParams({ q: text }).toString())).toBe(found);
  });

  it('counts what it found, and not what there is', () => {
    const found = selectLocks(locks, query('q=StockService'));
    expect(found.total).toBe(locks.filter(({ key }) => key.startsWith('/locks/inventory/')).length);
    expect(found.rows.every(({ key }) => key.startsWith('/locks/inventory/'))).toBe(true);
  });

  it('keeps to the locks with a queue, and to those that were abandoned', () => {
    expect([keys('list=queued'), keys('list=abandoned'), keys('list=x')]).toEqual(['bc', 'a', 'bca']);
  });
});

describe('The address of a list', () => {
  it('brings back what it was made of, and says nothing that goes without saying', () => {
    const asked = query('q=a+%26b&list=queued&sort=-age&page=7');
    expect(readListQuery(new URLSearchParams(listAddress(asked, { page: 7 }).split('?')[1]))).toEqual(asked);
    expect(listAddress(query(''))).toBe('list');
  });

  it('begins at the first page when anything else changes', () => {
    expect(listAddress(query('page=7&q=a'), { sort: 'key', isDescending: false })).toBe('list?q=a&sort=key');
  });
});
