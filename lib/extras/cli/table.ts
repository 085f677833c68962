import { cutEnd, cutMiddle, widthOf } from './words.js';

export interface Column {
  readonly title: string;
  /** Where a text that does not fit is cut. A column without it is never cut: tokens and numbers are of no use in part. */
  readonly cut?: 'middle' | 'end';
  readonly align?: 'right';
}

const GAP = '  ';
/** A column that is cut keeps as much, whatever the width of the terminal. */
const LEAST_WIDTH = 10;

/** The lines of a table that fits the width, as far as columns may be cut. */
export function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string[] {
  const widths = columns.map(({ title }, index) =>
    Math.max(widthOf(title), ...rows.map((row) => widthOf(row[index] ?? ''))),
  );
  fit(columns, widths, width - GAP.length * (columns.length - 1));
  const line = (cells: readonly string[]): string =>
    columns
      .map((column, index) => padded(column, cells[index] ?? '', widths[index]!))
      .join(GAP)
      .trimEnd();
  return [line(columns.map(({ title }) => title)), ...rows.map(line)];
}

/** Takes from the widest column that may be cut, column by column, until all fit. */
function fit(columns: readonly Column[], widths: number[], room: number): void {
  const sum = (): number => widths.reduce((total, width) => total + width, 0);
  while (sum() > room) {
    let widest = -1;
    for (const [index, { cut }] of columns.entries()) {
      const canShrink = cut !== undefined && widths[index]! > LEAST_WIDTH;
      if (canShrink && (widest === -1 || widths[index]! > widths[widest]!)) widest = index;
    }
    if (widest === -1) return;
    widths[widest]! -= 1;
  }
}

function padded({ cut, align }: Column, text: string, width: number): string {
  const cell = cut === undefined ? text : cut === 'middle' ? cutMiddle(text, width) : cutEnd(text, width);
  const padding = ' '.repeat(Math.max(0, width - widthOf(cell)));
  return align === 'right' ? padding + cell : cell + padding;
}
