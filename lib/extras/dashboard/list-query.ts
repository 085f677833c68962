import { addressOf } from './address.js';
import { COLUMNS, type ColumnId } from './columns.js';

export const LISTS = ['all', 'queued', 'abandoned'] as const;
/** The list shows these locks: all, those with a queue, those whose holder vanished. */
export type ListName = (typeof LISTS)[number];

/** The address of the list asks for this. Whatever makes no sense there counts as not given. */
export interface ListQuery {
  readonly search: string;
  readonly list: ListName;
  readonly sort: ColumnId;
  readonly isDescending: boolean;
  /** From 1. */
  readonly page: number;
}

/** Longest queues first: that is what somebody who looks is looking for. */
const BY_DEFAULT: ListQuery = { search: '', list: 'all', sort: 'waiting', isDescending: true, page: 1 };
const MAX_SEARCH_LENGTH = 200;

export function readListQuery(parameters: URLSearchParams): ListQuery {
  const sort = parameters.get('sort') ?? '';
  const column = COLUMNS.find(({ id }) => id === sort.replace(/^-/, ''));
  const page = Number(parameters.get('page') ?? 1);
  return {
    search: (parameters.get('q') ?? '').trim().slice(0, MAX_SEARCH_LENGTH),
    list: LISTS.find((list) => list === parameters.get('list')) ?? BY_DEFAULT.list,
    sort: column?.id ?? BY_DEFAULT.sort,
    isDescending: column === undefined ? BY_DEFAULT.isDescending : sort.startsWith('-'),
    page: Number.isSafeInteger(page) && page > 0 ? page : BY_DEFAULT.page,
  };
}

/** The address of the list with some of it changed; a change of what is shown begins at its first page. */
export function listAddress(query: ListQuery, change: Partial<ListQuery> = {}): string {
  const { search, list, sort, isDescending, page } = { ...query, page: BY_DEFAULT.page, ...change };
  const isSortedByDefault = sort === BY_DEFAULT.sort && isDescending === BY_DEFAULT.isDescending;
  return addressOf('list', {
    q: search === '' ? undefined : search,
    list: list === BY_DEFAULT.list ? undefined : list,
    sort: isSortedByDefault ? undefined : `${isDescending ? '-' : ''}${sort}`,
    page: page === BY_DEFAULT.page ? undefined : String(page),
  });
}
