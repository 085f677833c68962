import { orAborted } from '../or-aborted.js';

/**
 * How many calls may wait for a KDC at once. Each holds one of the four threads that files and look-ups of names share,
 * for tens of seconds where the KDC is silent. One of two can still use a ticket that is there already.
 */
const CALLS_AT_ONCE = 2;

interface Asked<T> {
  readonly answer: Promise<T>;
  /** Aborts when the one who asked leaves. */
  asker: AbortSignal;
}

/**
 * Lets few calls into the thread pool at a time. A call cannot be stopped once it has begun, so one whose asker has left
 * is taken over by the next who asks for the same: a slow KDC is then waited for over several attempts.
 */
export class TokenLine<T> {
  readonly #underWay = new Map<string, Set<Asked<T>>>();
  readonly #waiting = new Set<() => void>();
  #calls = 0;

  /** Rejects as soon as the signal aborts. @param name what is asked for */
  async ask(name: string, begin: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const abandoned = [...(this.#underWay.get(name) ?? [])].find(({ asker }) => asker.aborted);
    const asked = abandoned ?? (await this.#enter(name, begin, signal));
    asked.asker = signal;
    return orAborted(asked.answer, signal);
  }

  async #enter(name: string, begin: () => Promise<T>, signal: AbortSignal): Promise<Asked<T>> {
    await this.#turn(signal);
    if (signal.aborted) this.#end();
    signal.throwIfAborted();
    return this.#begin(name, begin, signal);
  }

  #begin(name: string, begin: () => Promise<T>, asker: AbortSignal): Asked<T> {
    const asked: Asked<T> = { answer: begin(), asker };
    const same = this.#underWay.get(name) ?? new Set();
    this.#underWay.set(name, same.add(asked));
    const end = (): void => {
      same.delete(asked);
      if (same.size === 0) this.#underWay.delete(name);
      this.#end();
    };
    asked.answer.then(end, end);
    return asked;
  }

  /** Resolves when a call may begin, which then counts as begun. */
  async #turn(signal: AbortSignal): Promise<void> {
    if (this.#calls < CALLS_AT_ONCE) {
      this.#calls += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(enter);
        reject(signal.reason as Error);
      };
      const enter = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.add(enter);
    });
  }

  /** A call has ended, so the next one in the line may begin. */
  #end(): void {
    this.#calls -= 1;
    const [next] = this.#waiting;
    if (next === undefined) return;
    this.#waiting.delete(next);
    this.#calls += 1;
    next();
  }
}
