import type { LockRow } from '../doctor/lock-scan.js';
import { labelOf, STATE_WORDS } from './shown.js';

export type ColumnId = 'key' | 'template' | 'state' | 'holder' | 'age' | 'waiting' | 'longest';

export interface Column {
  readonly id: ColumnId;
  readonly title: string;
  /** The rows are sorted by this; undefined comes last. */
  readonly valueOf: (row: LockRow) => string | number | undefined;
  /** Of numbers the largest is of interest. */
  readonly isNumber: boolean;
}

/** The table of all locks, from left to right. */
export const COLUMNS: readonly Column[] = [
  { id: 'key', title: 'Key', valueOf: ({ key }) => key, isNumber: false },
  { id: 'state', title: 'State', valueOf: ({ state }) => STATE_WORDS[state], isNumber: false },
  { id: 'holder', title: 'Holder', valueOf: holderName, isNumber: false },
  { id: 'age', title: 'Asked', valueOf: ({ holderAgeMs }) => holderAgeMs, isNumber: true },
  { id: 'waiting', title: 'Queue', valueOf: ({ waiting }) => waiting, isNumber: true },
  { id: 'longest', title: 'Longest wait', valueOf: ({ longestWaitMs }) => longestWaitMs, isNumber: true },
  { id: 'template', title: 'Template', valueOf: ({ template }) => template, isNumber: false },
];

function holderName({ holders: [first] }: LockRow): string | undefined {
  return first === undefined ? undefined : labelOf(first.client);
}
