import { appendFileSync, readFileSync } from 'node:fs';

/** Where the applications of a test write down what they have done, as a database would. */
const DIARY = process.env['RECIPE_DIARY'] ?? '';

export interface Entry {
  readonly what: string;
  readonly pid: number;
  readonly token: string;
}

export function entries(diary = DIARY): Entry[] {
  const lines = readFileSync(diary, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Entry);
}

export function writeDown(what: string, token: bigint): void {
  const entry: Entry = { what, pid: process.pid, token: String(token) };
  appendFileSync(DIARY, `${JSON.stringify(entry)}\n`);
}

/** Tells the test, and stays there for good where the test has said so. */
export async function reach(what: string): Promise<void> {
  process.send?.({ type: 'reached', what });
  if (process.env['RECIPE_STUCK_AT'] === what) await new Promise(() => undefined);
}
