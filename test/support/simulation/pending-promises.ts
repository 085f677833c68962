import type { AppProcess } from './app-process.js';
import type { Judge } from './judge.js';

interface Pending {
  readonly app: AppProcess;
  readonly what: string;
  readonly dueAtMs: number;
}

/** Time stands still while promises run on; this is for sums that round. */
const SLACK_MS = 0.5;

/** Every promise has a time by which it must have settled; a process that stands still has until it goes on. */
export class PendingPromises {
  readonly #now: () => number;
  readonly #judge: Judge;
  readonly #pending = new Set<Pending>();

  constructor(now: () => number, judge: Judge) {
    this.#now = now;
    this.#judge = judge;
  }

  /** Settles as the promise does. */
  async within<T>(app: AppProcess, what: string, withinMs: number, promise: Promise<T>): Promise<T> {
    const pending: Pending = { app, what, dueAtMs: this.#now() + withinMs };
    this.#pending.add(pending);
    try {
      return await promise;
    } finally {
      this.#pending.delete(pending);
      this.#check(pending);
    }
  }

  /** At the end: nothing may be left. */
  checkAll(): void {
    for (const pending of this.#pending) {
      if (!pending.app.isKilled)
        this.#judge.blame('every promise settles', `${pending.app.name}: ${pending.what} is still pending`);
    }
  }

  #check({ app, what, dueAtMs }: Pending): void {
    const lateMs = this.#now() - Math.max(dueAtMs, app.lastResumedAtMs);
    if (lateMs <= SLACK_MS || app.isKilled) return;
    this.#judge.blame('every promise settles', `${app.name}: ${what} settled ${lateMs.toFixed(1)} ms late`);
  }
}
