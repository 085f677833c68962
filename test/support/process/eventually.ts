import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { Stalls } from './stalls.js';

export interface EventuallyOptions {
  /** How long to go on asking, not counting how long the machine stood still. @default 10_000 */
  withinMs?: number;
  /** Pause between two questions. @default 25 */
  everyMs?: number;
  /** Added to the error when time is up, for example the tail of a log. */
  explain?: () => string;
  /** An error ends the waiting at once: it has become impossible. */
  giveUp?: () => Error | undefined;
}

/**
 * Asks again and again until `probe` gives something other than `undefined` or `false`, and returns that.
 *
 * For what announces itself by no event (a four-letter word, a file, another process's state). A probe that throws counts as
 * "not yet"; its last error is the cause of the error thrown when time is up.
 */
export async function eventually<T>(
  what: string,
  probe: () => T | Promise<T>,
  options: EventuallyOptions = {},
): Promise<Exclude<T, undefined | false>> {
  const { withinMs = 10_000, everyMs = 25, explain, giveUp } = options;
  const startedAt = performance.now();
  using stalls = Stalls.watch();
  let lastFailure: unknown;
  for (;;) {
    try {
      const answer = await probe();
      if (answer !== undefined && answer !== false) return answer as Exclude<T, undefined | false>;
      lastFailure = undefined;
    } catch (failure) {
      lastFailure = failure;
    }
    const impossible = giveUp?.();
    if (impossible !== undefined) throw impossible;
    if (performance.now() - startedAt >= withinMs + stalls.totalMs) {
      const explanation = explain === undefined ? '' : `\n${explain()}`;
      throw new Error(`Not within ${withinMs} ms: ${what}.${explanation}`, { cause: lastFailure });
    }
    await pause(everyMs);
  }
}

/**
 * Settles as `promise` does, or rejects with "Not within ... ms: what" when that takes too long. How long the machine stood
 * still does not count: what is waited for stood still, too.
 */
export async function within<T>(withinMs: number, what: string, promise: Promise<T>): Promise<T> {
  const startedAt = performance.now();
  using stalls = Stalls.watch();
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    const look = (): void => {
      const leftMs = startedAt + withinMs + stalls.totalMs - performance.now();
      if (leftMs > 0) timer = setTimeout(look, Math.ceil(leftMs));
      else reject(new Error(`Not within ${withinMs} ms: ${what}.`));
    };
    look();
  });
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
