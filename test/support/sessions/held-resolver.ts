import type { NameResolver } from '../../../lib/session/wire/name-resolver.js';

interface Question {
  readonly signal: AbortSignal;
  resolve(addresses: readonly string[]): void;
  reject(cause: unknown): void;
}

/** Finds addresses when the test says so, and nothing before. */
export class HeldResolver implements NameResolver {
  readonly asked: string[] = [];
  readonly #questions: Question[] = [];

  resolve(host: string, signal: AbortSignal): Promise<readonly string[]> {
    this.asked.push(host);
    return new Promise((resolve, reject) => {
      this.#questions.push({ signal, resolve, reject });
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  }

  /** How many of the questions were taken back. */
  get cancelled(): number {
    return this.#questions.filter(({ signal }) => signal.aborted).length;
  }

  /** Answers the latest question. */
  answer(...addresses: readonly string[]): void {
    this.#questions.at(-1)?.resolve(addresses);
  }

  fail(cause: Error): void {
    this.#questions.at(-1)?.reject(cause);
  }
}
