import { isAboutTheLink, SessionError } from '../session/errors.js';
import { isUp } from '../session/connection-state.js';
import { multi, remove, type MultiPart } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { listBehindWrites } from './list-behind-writes.js';
import { type Member, Roster } from './roster.js';
import type { Uplink } from './uplink.js';

const RETRY_AFTER_MS = 100;

interface Task extends Member {
  /** Resolves to false when it must be tried again on the next link. */
  attempt(): Promise<boolean>;
  readonly done: () => void;
  readonly promise: Promise<void>;
}

/**
 * Removes what requests leave behind, until the servers have confirmed it: a removal that cannot be sent now, or whose
 * answer was lost, is repeated when the link is back, in whatever session that is.
 */
export class Janitor {
  readonly #session: Session;
  readonly #tasks = new Roster<Task>();

  constructor(session: Session, uplink: Uplink) {
    this.#session = session;
    uplink.onChange((state) => {
      if (isUp(state)) for (const task of this.#tasks.all()) this.#run(task);
      if (state === 'closed') for (const task of this.#tasks.all()) this.#finish(task);
    });
  }

  get isIdle(): boolean {
    return this.#tasks.size === 0;
  }

  /**
   * Resolves when the nodes are gone. `also` is done in the same transaction, when there is a node to remove; while it is
   * only being found out, the nodes stay.
   */
  remove(paths: readonly string[], also: readonly MultiPart[] | Promise<readonly MultiPart[]> = []): Promise<void> {
    if (paths.length === 1 && !(also instanceof Promise) && also.length === 0)
      return this.#add(() => this.#removeEach(paths));
    return this.#add(async () => {
      const parts = also instanceof Promise ? await also : also;
      const [removed] = await this.#session.batch([multi([...paths.map((path) => remove(path)), ...parts])]);
      if (!(removed instanceof SessionError)) return true;
      // One that somebody else has removed must not keep the others.
      return !isAboutTheLink(removed) && this.#removeEach(paths);
    });
  }

  /** Resolves when no node with this in its name is there. For creates of which nobody knows whether they happened. */
  sweep(queuePath: string, marker: string): Promise<void> {
    return this.#add(async () => {
      const listed = await listBehindWrites(this.#session, queuePath, marker);
      if (listed instanceof SessionError) return !isAboutTheLink(listed);
      const left = listed.children.filter((name) => name.includes(marker));
      return this.#removeEach(left.map((name) => `${queuePath}/${name}`));
    });
  }

  /** Resolves when nothing is left to remove. */
  async idle(): Promise<void> {
    while (this.#tasks.size > 0) await Promise.all(this.#tasks.all().map(({ promise }) => promise));
  }

  #add(attempt: () => Promise<boolean>): Promise<void> {
    // What is left goes with the session, and no link will come back to remove it on.
    if (this.#session.state === 'closed') return Promise.resolve();
    let done!: () => void;
    const promise = new Promise<void>((resolve) => (done = resolve));
    const task: Task = { attempt, done, promise, rosterIndex: -1 };
    this.#tasks.add(task);
    this.#run(task);
    return promise;
  }

  #run(task: Task): void {
    void task.attempt().then((succeeded) => this.#attempted(task, succeeded));
  }

  #attempted(task: Task, succeeded: boolean): void {
    if (succeeded) {
      this.#finish(task);
    } else if (isUp(this.#session.state) && this.#tasks.has(task)) {
      // The server is too busy (it may throttle), and no new link will remind of this one.
      this.#session.clock.setTimer(RETRY_AFTER_MS, () => {
        if (this.#tasks.has(task)) this.#run(task);
      });
    }
  }

  #finish(task: Task): void {
    if (this.#tasks.delete(task)) task.done();
  }

  #removeEach(paths: readonly string[]): Promise<boolean> {
    return this.#session
      .batch(paths.map((path) => remove(path)))
      .then((outcomes) => outcomes.every((outcome) => !(outcome instanceof SessionError) || !isAboutTheLink(outcome)));
  }
}
