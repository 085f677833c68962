import { reasonOf, type Log } from './command.js';

/** One way to come by something, under the name by which its failure is reported. */
export interface Way<T> {
  readonly name: string;
  readonly start: () => Promise<T>;
}

/** What the first way gives that works; each that does not is named with its reason. Rejects with `advice` and all reasons. */
export async function firstThatWorks<T>(ways: readonly Way<T>[], advice: string, log: Log): Promise<T> {
  const failures: string[] = [];
  for (const way of ways) {
    log(`trying ${way.name}`);
    try {
      return await way.start();
    } catch (error) {
      failures.push(`${way.name}: ${reasonOf(error)}`);
      log(`${way.name} does not work: ${reasonOf(error)}`);
    }
  }
  throw new Error([advice, 'What was tried:', ...failures.map((failure) => `  ${failure}`)].join('\n'));
}
