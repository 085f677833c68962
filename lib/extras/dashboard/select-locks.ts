import { COLUMNS } from './columns.js';
import type { ListName, ListQuery } from './list-query.js';
import type { LockRow } from '../doctor/lock-scan.js';
import { labelOf, placeOf, STATE_WORDS } from './shown.js';

export const ROWS_ON_A_PAGE = 50;

export interface LockList {
  readonly rows: readonly LockRow[];
  /** This many locks fit the query, on all pages. */
  readonly total: number;
  /** The place of the first row among them, from 1. */
  readonly first: number;
  readonly page: number;
  readonly pages: number;
}

/** One page of the locks that a query asks for, in its order. */
export function selectLocks(locks: readonly LockRow[], query: ListQuery): LockList {
  const found = locks.filter((row) => isInList(row, query.list)).filter(matcher(query.search));
  const pages = Math.max(1, Math.ceil(found.length / ROWS_ON_A_PAGE));
  // The last page may have gone since the address was made.
  const page = Math.min(query.page, pages);
  const start = (page - 1) * ROWS_ON_A_PAGE;
  const rows = found.sort(order(query)).slice(start, start + ROWS_ON_A_PAGE);
  return { rows, total: found.length, first: start + 1, page, pages };
}

export function isInList({ waiting, abandoned }: LockRow, list: ListName): boolean {
  if (list === 'queued') return waiting > 0;
  return list === 'all' || abandoned !== undefined;
}

/** Every word of the search must be somewhere in what the row says. */
function matcher(search: string): (row: LockRow) => boolean {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return () => true;
  return (row) => {
    const text = textOf(row);
    return words.every((word) => text.includes(word));
  };
}

function textOf({ key, template = '', state, holders, abandoned }: LockRow): string {
  const who = holders.map(({ client, fencingToken }) => `${labelOf(client)} ${placeOf(client)} ${fencingToken}`);
  const vanished = abandoned === undefined ? '' : `${labelOf(abandoned)} ${placeOf(abandoned)} ${abandoned.token}`;
  return [key, template, STATE_WORDS[state], ...who, vanished].join(' ').toLowerCase();
}

function order({ sort, isDescending }: ListQuery): (one: LockRow, other: LockRow) => number {
  const { valueOf } = COLUMNS.find(({ id }) => id === sort)!;
  return (one, other) => {
    const [left, right] = [valueOf(one), valueOf(other)];
    if (left === right) return one.key < other.key ? -1 : 1;
    if (left === undefined) return 1;
    if (right === undefined) return -1;
    return left < right === isDescending ? 1 : -1;
  };
}
