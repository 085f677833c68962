import { type Attempt, textOf } from './diary.js';

/** What a file may be. */
export interface FileState {
  readonly content: string | undefined;
  readonly highestToken: bigint | undefined;
}

/**
 * All that a file may be after one writer, who was alone, was killed: what is acknowledged is there, and the last attempt is
 * there as a whole or not at all. An update that was cut off may have claimed.
 */
export function possibleStates(before: FileState, attempts: readonly Attempt[]): FileState[] {
  const settled = attempts.filter(({ outcome }) => outcome !== undefined).reduce(after, before);
  const last = attempts.at(-1);
  if (last === undefined || last.outcome !== undefined) return [settled];
  return [settled, { ...settled, highestToken: last.token }, after(settled, last)];
}

function after({ content }: FileState, attempt: Attempt): FileState {
  if (attempt.outcome === 'refused') throw new Error(`Refused, and nobody else was there: ${attempt.token}`);
  return { content: contentAfter(content, attempt), highestToken: attempt.token };
}

function contentAfter(content: string | undefined, attempt: Attempt): string | undefined {
  switch (attempt.kind) {
    case 'write':
      return textOf(attempt);
    case 'append':
    case 'update':
      return `${content ?? ''}${textOf(attempt)}`;
    case 'remove':
      return undefined;
    case 'claim':
      return content;
  }
}

/** What is wrong with a file to which several writers added lines. */
export function faultsOfCrowd({ content, highestToken }: FileState, attempts: readonly Attempt[]): string[] {
  const lines = (content ?? '').split('\n');
  const faults = lines.pop() === '' ? [] : ['the last line has no end'];
  const byLine = new Map(attempts.map((attempt) => [textOf(attempt).trimEnd(), attempt]));
  const there = new Map<string, number>();
  let last = 0n;
  for (const line of lines) {
    const attempt = byLine.get(line);
    there.set(line, (there.get(line) ?? 0) + 1);
    if (attempt === undefined) faults.push(`torn: ${line}`);
    else if (attempt.outcome === 'refused') faults.push(`refused, and there: ${line}`);
    else if (attempt.token < last) faults.push(`behind a newer one: ${line}`);
    last = attempt?.token ?? last;
  }
  for (const [line, attempt] of byLine) {
    if (attempt.outcome === 'taken' && there.get(line) !== 1)
      faults.push(`there ${there.get(line) ?? 0} times: ${line}`);
  }
  if ((highestToken ?? 0n) < last) faults.push(`the token went back to ${highestToken}`);
  return faults;
}
