import type { LockState } from '../../lock/snapshot.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A duration as a person reads it: two units at the most. */
export function shownDuration(ms: number): string {
  const whole = Math.max(0, Math.floor(ms));
  if (whole < SECOND_MS) return `${whole} ms`;
  if (whole < 10 * SECOND_MS) return `${(Math.floor(whole / 100) / 10).toFixed(1)} s`;
  if (whole < MINUTE_MS) return `${Math.floor(whole / SECOND_MS)} s`;
  if (whole < HOUR_MS) return `${Math.floor(whole / MINUTE_MS)} min ${padded(whole % MINUTE_MS, SECOND_MS)} s`;
  if (whole < DAY_MS) return `${Math.floor(whole / HOUR_MS)} h ${padded(whole % HOUR_MS, MINUTE_MS)} min`;
  return `${Math.floor(whole / DAY_MS)} d ${padded(whole % DAY_MS, HOUR_MS)} h`;
}

function padded(restMs: number, unitMs: number): string {
  return String(Math.floor(restMs / unitMs)).padStart(2, '0');
}

/** 10000 as 10 000, with a space that does not break. */
export function shownCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, '\u00a0');
}

export function plural(count: number, one: string, many: string): string {
  return `${shownCount(count)} ${count === 1 ? one : many}`;
}

/** The date in the time zone that logs have. */
export function shownDate(date: Date): string {
  return date
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');
}

/** The time of the day. */
export function shownTime(date: Date): string {
  return date.toISOString().slice(11, 19);
}

export const STATE_WORDS: Readonly<Record<LockState, string>> = { FREE: 'free', HELD: 'held', EXPIRED: 'abandoned' };

/** A contender, a holder of the past, or one that vanished: each says the same of itself. */
interface Described {
  readonly label?: string | undefined;
  readonly host?: string | undefined;
  readonly pid?: number | undefined;
}

export function labelOf(one: Described | undefined): string {
  return one?.label ?? 'without a label';
}

/** The process behind a contender. */
export function placeOf(one: Described | undefined): string {
  if (one?.host === undefined) return 'unknown process';
  return one.pid === undefined ? one.host : `${one.host}:${one.pid}`;
}
