import { setImmediate, setTimeout } from 'node:timers';

/** Work is put off for so long, so that a burst of locks pays for it once it is over, or in between. */
const PUT_OFF_MS = 10;
/** So much is done at least in one turn of the event loop, */
const IN_ONE_TURN = 32;
/** and this part of what there is to do, so that it is done faster than it comes. */
const PART_IN_ONE_TURN = 1 / 8;

/**
 * Does what measuring costs some milliseconds after something has happened to a lock, little by little: the call goes on at once, and
 * no other one waits for long. Work of one kind that is done in one go takes a fraction of the time, too.
 */
export class Later {
  #tasks: (() => void)[] = [];
  #done = 0;
  #isPlanned = false;
  #hasWarned = false;

  add(task: () => void): void {
    this.#tasks.push(task);
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setTimeout(() => this.#next(), PUT_OFF_MS);
  }

  /** Does it now: what is read must have all that has happened. */
  flush(): void {
    this.#do(this.#tasks.length - this.#done);
  }

  #next(): void {
    const left = this.#tasks.length - this.#done;
    this.#do(Math.min(left, Math.max(IN_ONE_TURN, Math.ceil(left * PART_IN_ONE_TURN))));
    this.#isPlanned = this.#tasks.length > 0;
    if (this.#isPlanned) setImmediate(() => this.#next());
  }

  #do(count: number): void {
    const end = this.#done + count;
    // A task may read what others lead to, and so do the rest itself.
    while (this.#done < Math.min(end, this.#tasks.length)) this.try(this.#tasks[this.#done++]!);
    if (this.#done < this.#tasks.length) return;
    this.#tasks = [];
    this.#done = 0;
  }

  /** Does one thing. A client that refuses a value must end neither the process nor the measuring of everything else. */
  try(task: () => void): void {
    try {
      task();
    } catch (error) {
      this.failed(error);
    }
  }

  /** Says that something could not be measured, the first time. */
  failed(error: unknown): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    process.emitWarning(
      `Something about a lock could not be measured; further failures are not told: ${String(error)}`,
      'LockMetricsWarning',
    );
  }
}
