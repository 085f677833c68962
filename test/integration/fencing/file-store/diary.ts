import { readFile } from 'node:fs/promises';

/**
 * What a writer says about itself, line by line, each written by one call before the next step: it lasts when the process
 * is killed, as what it has acknowledged to others would.
 */
export interface Attempt {
  readonly number: number;
  readonly kind: 'write' | 'append' | 'update' | 'remove' | 'claim';
  readonly token: bigint;
  readonly size: number;
  /** Undefined where the process was killed before it knew. */
  outcome?: 'taken' | 'refused';
}

export function attemptLine({ number, kind, token, size }: Attempt): string {
  return `try ${number} ${kind} ${token} ${size}\n`;
}

export function outcomeLine({ number, outcome }: Attempt): string {
  return `${outcome} ${number}\n`;
}

export async function readDiary(path: string): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  const lines = (await readFile(path, 'utf8')).split('\n').slice(0, -1);
  for (const line of lines) {
    const [verb, number, kind, token, size] = line.split(' ');
    if (verb === 'try') {
      attempts.push({
        number: Number(number),
        kind: kind as Attempt['kind'],
        token: BigInt(token!),
        size: Number(size),
      });
    } else if (verb === 'taken' || verb === 'refused') {
      attempts.at(-1)!.outcome = verb;
    } else {
      throw new Error(`A writer went wrong: ${line}`);
    }
  }
  return attempts;
}

/** What one attempt writes or adds: told by its token and size, and full of what means something in a journal. */
export function textOf({ token, size }: Pick<Attempt, 'token' | 'size'>): string {
  return `${token}${'!\\n;\\'.repeat(size)}\n`;
}
