import { setImmediate } from 'node:timers';

/**
 * Does what measuring costs behind the turn of the event loop in which something happened to a lock: the call goes on at once, and the
 * work is done while it waits for the servers.
 */
export class Later {
  #tasks: (() => void)[] = [];

  add(task: () => void): void {
    if (this.#tasks.push(task) === 1) setImmediate(() => this.flush());
  }

  /** Does it now: what is read must have all that has happened. */
  flush(): void {
    const tasks = this.#tasks;
    this.#tasks = [];
    for (const task of tasks) task();
  }
}
