import { cutEnd, cutMiddle, widthOf } from './words.js';

export interface Column {
  readonly title: string;
  /** A text that does not fit is cut here. A column without it is never cut: tokens and numbers are of no use in part. */
  readonly cut?: 'middle' | 'end';
  readonly align?: 'right';
}

const GAP = '  ';
/** Columns that may be cut keep at least this width, whatever the width of the terminal. */
const LEAST_WIDTHS = { end: 16, middle: 12 } as const;

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

/** Takes width from columns that may be cut until all of them fit. */
function fit(columns: readonly Column[], widths: number[], room: number): void {
  // A column that is cut in the middle has keys, which say more than other texts: it gives way last.
  for (const cut of ['end', 'middle'] as const) {
    for (const [index, column] of columns.entries()) {
      if (column.cut !== cut) continue;
      const excess = widths.reduce((total, width) => total + width, 0) - room;
      const least = Math.min(widths[index]!, LEAST_WIDTHS[cut]);
      widths[index] = Math.max(least, widths[index]! - Math.max(0, excess));
    }
  }
}

function padded({ cut, align }: Column, text: string, width: number): string {
  const cell = cut === undefined ? text : cut === 'middle' ? cutMiddle(text, width) : cutEnd(text, width);
  const padding = ' '.repeat(Math.max(0, width - widthOf(cell)));
  return align === 'right' ? padding + cell : cell + padding;
}
