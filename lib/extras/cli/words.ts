interface Unit {
  readonly ms: number;
  readonly text: string;
}

const SECOND: Unit = { ms: 1_000, text: 's' };
const MINUTE: Unit = { ms: 60 * SECOND.ms, text: 'm' };
const HOUR: Unit = { ms: 60 * MINUTE.ms, text: 'h' };
const DAY: Unit = { ms: 24 * HOUR.ms, text: 'd' };

/** A time span in words, of two units at the most: `820ms`, `1.4s`, `45s`, `3m 12s`, `2h 5m`, `3d 4h`. */
export function spanText(ms: number): string {
  if (ms < SECOND.ms) return `${Math.floor(ms)}ms`;
  if (ms < 10 * SECOND.ms) return `${Math.floor(ms / 100) / 10}s`;
  if (ms < MINUTE.ms) return `${Math.floor(ms / SECOND.ms)}s`;
  if (ms < HOUR.ms) return twoUnits(ms, MINUTE, SECOND);
  if (ms < DAY.ms) return twoUnits(ms, HOUR, MINUTE);
  return twoUnits(ms, DAY, HOUR);
}

function twoUnits(ms: number, large: Unit, small: Unit): string {
  const rest = Math.floor((ms % large.ms) / small.ms);
  return `${Math.floor(ms / large.ms)}${large.text}${rest === 0 ? '' : ` ${rest}${small.text}`}`;
}

/** A moment by the wall clock, in UTC: servers and people are in many zones. */
export function momentText(at: Date): string {
  return Number.isNaN(at.getTime()) ? 'unknown' : `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/;

/** Counts the columns that a text takes on a terminal. Characters of Chinese, Japanese and Korean take two, marks above others none. */
export function widthOf(text: string): number {
  let width = 0;
  for (const one of text) width += /\p{M}/u.test(one) ? 0 : WIDE.test(one) ? 2 : 1;
  return width;
}

const ELLIPSIS = '…';

/** Cuts the end of a text that is too wide. */
export function cutEnd(text: string, width: number): string {
  return widthOf(text) <= width ? text : `${firstColumns(text, width - 1)}${ELLIPSIS}`;
}

/**
 * Cuts the middle out of a text that is too wide. What tells keys apart stands at their end, mostly: the last segment stays whole
 * where it takes no more than two thirds.
 */
export function cutMiddle(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const room = width - 1;
  const lastSegment = widthOf(text.slice(text.lastIndexOf('/')));
  const tail = lastSegment <= (room * 2) / 3 ? Math.max(lastSegment, Math.floor(room / 2)) : Math.floor(room / 2);
  return `${firstColumns(text, room - tail)}${ELLIPSIS}${reversed(firstColumns(reversed(text), tail))}`;
}

function firstColumns(text: string, width: number): string {
  let taken = '';
  let columns = 0;
  for (const one of text) {
    columns += widthOf(one);
    if (columns > width) break;
    taken += one;
  }
  return taken;
}

function reversed(text: string): string {
  return [...text].reverse().join('');
}

/** Breaks a text between words, so that no line is wider than this. A word that is wider by itself stays whole. */
export function wrapped(text: string, width: number, indent = ''): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && widthOf(longer) > width) {
      lines.push(line);
      line = indent + word;
    } else line = longer;
  }
  return [...lines, line];
}
