/** One line of the report: who did what, and its figures. */
export interface Row {
  readonly name: string;
  readonly scenario: string;
  readonly [figure: string]: string | number;
}

/** Prints rows as they come: a JSON object a line, or a table a scenario. */
export class Report {
  readonly #isJson: boolean;

  constructor(isJson: boolean) {
    this.#isJson = isJson;
  }

  /** Somebody that does not take part, which the reader of either form must know. */
  leftOut(scenario: string, name: string, reason: string): void {
    if (this.#isJson) process.stdout.write(`${JSON.stringify({ name, scenario, left_out: reason })}\n`);
    else process.stdout.write(`${name} is left out of the comparison: ${reason}\n`);
  }

  /** What has to be known of one's figures; behind them. */
  remark(scenario: string, name: string, remark: string): void {
    if (this.#isJson) process.stdout.write(`${JSON.stringify({ name, scenario, remark })}\n`);
    else process.stdout.write(wrapped(`${name}: ${remark}`));
  }

  /** For people alone: it says nothing that the rows do not. */
  table(title: string, rows: readonly Row[]): void {
    if (!this.#isJson) this.rows(title, rows);
  }

  rows(title: string, rows: readonly Row[]): void {
    const rounded = rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [name, typeof value === 'number' ? round(value) : value]),
      ),
    );
    if (this.#isJson) {
      for (const row of rounded) process.stdout.write(`${JSON.stringify(row)}\n`);
      return;
    }
    process.stdout.write(`\n${title}\n`);
    printTable(rounded);
  }
}

function printTable(rows: readonly Record<string, string | number>[]): void {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((column) => column !== 'scenario');
  const cells = [columns, ...rows.map((row) => columns.map((column) => String(row[column] ?? '')))];
  const widths = columns.map((_, column) => Math.max(...cells.map((line) => line[column]!.length)));
  for (const line of cells) {
    const text = line.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
    );
    process.stdout.write(`  ${text.join('  ')}\n`);
  }
}

function wrapped(text: string): string {
  return text.replaceAll(/(.{1,110})(?:\s+|$)/g, '  $1\n');
}

function round(value: number): number {
  return Number(value.toPrecision(4));
}
