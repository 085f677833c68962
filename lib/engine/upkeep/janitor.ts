import type { Timer } from '../../lock/clock.js';
import { outsideCalls } from '../../lock/outside-calls.js';
import { isUp } from '../../session/connection-state.js';
import { failedWith, isAboutTheLink, SessionError } from '../../session/errors.js';
import { check, exists, get, multi, type MultiPart, remove, set, type Stat } from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import type { Guard } from '../contender.js';
import { IndexedSet, type Member } from '../collections.js';
import type { ChangesAfterLook } from '../record-entry.js';
import type { Timers } from '../timers.js';
import { type ListsBehindWrites, useUnusedContainer } from './key-nodes.js';
import type { LinkState } from './link-state.js';

const RETRY_AFTER_MS = 100;
/** A removal that the servers refuse is mended by an operator, which takes longer. */
const LONGEST_PAUSE_MS = 30_000;
/** A kernel that has no room for this long has a server at the other end that has stopped reading. */
const LEAVES_WITHIN_MS = 100;

/** How often a service that closes looks whether its removals go on. */
const LOOK_EVERY_MS = 250;
const MOST_LOOKS = 40;

/** A node that the servers do not remove, and their answer. */
interface Refusal {
  readonly path: string;
  readonly error: SessionError;
}

/** `again` means on the next link, or a little later on this one. */
type Result = 'done' | 'again' | Refusal;

interface Task extends Member {
  attempt(): Promise<Result>;
  /** Resolves the promise of the caller, if one still waits. */
  done: () => void;
  /** How often the servers have refused the removal. */
  refusals: number;
  retry: Timer | undefined;
}

/** A removal that has begun, and goes on whether anybody waits for it or not. */
export interface Removal {
  readonly done: Promise<void>;
  /** Must be called when nobody waits for `done` any more, so that the removal does not keep those who waited. */
  readonly forget: () => void;
}

const NO_QUEUE: { readonly children: readonly string[]; readonly stat: Stat | undefined } = {
  children: [],
  stat: undefined,
};

const nobodyWaits = (): void => undefined;

interface JanitorParts {
  readonly session: Session;
  readonly link: LinkState;
  readonly timers: Timers;
  readonly lists: ListsBehindWrites;
}

/**
 * Removes the nodes that requests leave behind, and repeats each removal until the servers have confirmed it. A removal that
 * cannot be sent now, or whose answer was lost, is repeated on the next link, even in another session. A removal that the
 * servers refuse is reported once.
 */
export class Janitor {
  readonly #session: Session;
  readonly #timers: Timers;
  readonly #lists: ListsBehindWrites;
  readonly #tasks = new IndexedSet<Task>();
  #sent: Promise<void> | undefined;

  /** @param onRefused is told of a node that the servers refuse to remove */
  constructor(
    { session, link, timers, lists }: JanitorParts,
    private readonly onRefused: (path: string, error: SessionError) => void,
  ) {
    this.#session = session;
    this.#timers = timers;
    this.#lists = lists;
    link.onChange('leftovers', (state) => {
      if (isUp(state)) for (const task of this.#tasks.all()) this.#run(task);
      if (state === 'closed') for (const task of this.#tasks.all()) this.#finish(task);
    });
  }

  /** How many removals are under way, or wait for the link. */
  get size(): number {
    return this.#tasks.size;
  }

  get isIdle(): boolean {
    return this.#tasks.isEmpty;
  }

  /**
   * Removes nodes, with `also` in front of that in the same transaction, in which the versions of its changes do not count: as long as
   * the nodes are there, nobody else has a say. Where they have gone, with their session perhaps, those changes are made alone that name
   * a version: nobody has come in between then.
   */
  remove(paths: readonly string[], also: readonly MultiPart[] | ChangesAfterLook = [], guard?: Guard): Removal {
    if ('path' in also) return this.#add(() => this.#removeAfterLook(paths, also, guard));
    // A single removal needs no transaction.
    const isAlone = paths.length === 1 && also.length === 0 && guard === undefined;
    return this.#add(() => (isAlone ? this.#removeEach(paths) : this.#removeTogether(paths, also, guard)));
  }

  /**
   * Removes what a create may have left whose answer never came: nodes with the marker in their names, and containers that
   * were made for them and would stay for good. Resolves when nothing is left.
   */
  sweep(queuePath: string, marker: string): Promise<void> {
    const task = this.#add(async () => {
      const listed = await this.#lists.list(queuePath, marker);
      // The list is too long to be sent, so asking again costs nothing. There may be fewer children by then.
      if (failedWith(listed, 'TOO_LARGE')) return { path: `${queuePath}/${marker}`, error: listed };
      if (listed instanceof SessionError && listed.code !== 'NO_NODE') return isAboutTheLink(listed) ? 'again' : 'done';
      const { children, stat } = listed instanceof SessionError ? NO_QUEUE : listed;
      const left = children.filter((name) => name.includes(marker));
      if (left.length > 0) return this.#removeEach(left.map((name) => `${queuePath}/${name}`));
      // A container that has had a child is removed by the servers when it stands empty.
      const refused = stat?.cversion ? undefined : await useUnusedContainer(this.#session, queuePath, marker);
      return refused !== undefined && isAboutTheLink(refused) ? 'again' : 'done';
    });
    return task.done;
  }

  /** Resolves when nothing is left to remove. */
  idle(): Promise<void> {
    return this.#tasks.whenEmpty();
  }

  /** Resolves when nothing is left to remove, or nothing was removed for `silentMs`. */
  async idleOrStuck(silentMs: number): Promise<void> {
    // A request to end the session would wait at the server behind these removals, thousands perhaps. If the client hung up
    // meanwhile, the server might never read it, and the nodes would stay until the session times out.
    let silentLooks = 0;
    // Looks are counted, and not the time, because answers may be waiting unread when the process has stood still.
    for (let looks = 0; looks < MOST_LOOKS && this.size > 0 && silentLooks * LOOK_EVERY_MS < silentMs; looks += 1) {
      const left = this.size;
      await this.#timers.atMost(LOOK_EVERY_MS, this.idle());
      silentLooks = this.size < left ? 0 : silentLooks + 1;
    }
  }

  /** Resolves when the kernel has all requests of this turn, or takes none for a while. */
  removalsSent(): Promise<void> {
    // The answers of many locks arrive together, so all callers of this step share one write. A turn of promises delimits the
    // step, because an application's fake timers could hold up a timer.
    this.#sent ??= Promise.resolve().then(() => {
      this.#sent = undefined;
      // A caller may end the process at its next statement. A removal that still waited for the end of the turn would die with
      // the process, and its node would stay until the session times out.
      const leaving = this.#session.flush();
      return leaving === undefined ? undefined : this.#timers.atMost(LEAVES_WITHIN_MS, leaving);
    });
    return this.#sent;
  }

  #add(attempt: () => Promise<Result>): Removal {
    // The nodes end with the session, and there will be no other link.
    if (this.#session.state === 'closed') return { done: Promise.resolve(), forget: nobodyWaits };
    const task: Task = { attempt, done: nobodyWaits, refusals: 0, retry: undefined, setIndex: -1 };
    // The removal may outlive the call that asks for it, so its promise must not keep that call's async context.
    const done = outsideCalls(() => new Promise<void>((resolve) => (task.done = resolve)));
    this.#tasks.add(task);
    this.#run(task);
    return { done, forget: () => (task.done = nobodyWaits) };
  }

  #run(task: Task): void {
    task.retry?.cancel();
    void task.attempt().then((result) => this.#attempted(task, result));
  }

  #attempted(task: Task, result: Result): void {
    if (result === 'done') return this.#finish(task);
    // The task is finished: the session was closed, or another attempt has succeeded.
    if (!this.#tasks.has(task)) return;
    if (result !== 'again') {
      task.refusals += 1;
      if (task.refusals === 1) this.onRefused(result.path, result.error);
    }
    if (!isUp(this.#session.state)) return;
    // The server throttles or refuses, and the link stays, so a timer repeats the removal. The pauses grow with the refusals.
    const pauseMs = Math.min(LONGEST_PAUSE_MS, RETRY_AFTER_MS * 2 ** task.refusals);
    task.retry?.cancel();
    task.retry = this.#session.clock.setTimer(pauseMs, () => this.#run(task));
  }

  #finish(task: Task): void {
    task.retry?.cancel();
    if (this.#tasks.delete(task)) task.done();
  }

  async #removeAfterLook(paths: readonly string[], also: ChangesAfterLook, guard: Guard | undefined): Promise<Result> {
    // A server may not show yet what this session wrote over another one. A write is decided behind that, even one that is refused:
    // here the deletion of a node that never exists, as it would be below an ephemeral one.
    const outcomes = await this.#session.batch([remove(`${paths[0]!}/never-there`), get(also.path)]);
    if (outcomes.some((outcome) => outcome instanceof SessionError && isAboutTheLink(outcome))) return 'again';
    const [, found] = outcomes;
    return this.#removeTogether(paths, found instanceof SessionError ? [] : also.changesTo(found), guard);
  }

  /**
   * Removes the nodes in one transaction, and only while those that others rely on are there. If one of those is missing, its
   * guard hears of that before the node in front of it goes.
   */
  async #removeTogether(
    paths: readonly string[],
    parts: readonly MultiPart[],
    guard: Guard | undefined,
  ): Promise<Result> {
    const together = parts.map((part) => (part.op === 'set' ? set(part.path, part.data) : part));
    for (;;) {
      const guarded = guard?.paths() ?? [];
      if (paths.length + parts.length + guarded.length === 1) return this.#removeEach(paths);
      const removals = [...guarded.map((path) => check(path)), ...together, ...paths.map((path) => remove(path))];
      const [removed] = await this.#session.batch([multi(removals)]);
      if (!(removed instanceof SessionError)) {
        guard?.confirmed(guarded);
        return 'done';
      }
      if (isAboutTheLink(removed)) return 'again';
      const found = guarded.length === 0 ? [] : await this.#session.batch(guarded.map((path) => exists(path)));
      if (found.some((outcome) => outcome instanceof SessionError && isAboutTheLink(outcome))) return 'again';
      const missing = guarded.filter((_path, index) => found[index] === undefined);
      for (const path of missing) guard?.missing(path);
      // A node that somebody else has removed, or that may not be removed, makes the whole transaction fail. The others must go
      // nevertheless.
      if (missing.length > 0) continue;
      const changes = parts.filter((part) => part.op === 'set' && part.version >= 0);
      const alone = changes.length === 0 ? [] : await this.#session.batch([multi(changes)]);
      if (alone.some((outcome) => outcome instanceof SessionError && isAboutTheLink(outcome))) return 'again';
      return this.#removeEach(paths);
    }
  }

  async #removeEach(paths: readonly string[]): Promise<Result> {
    const outcomes = await this.#session.batch(paths.map((path) => remove(path)));
    const errors = outcomes.map((outcome) => (outcome instanceof SessionError ? outcome : undefined));
    if (errors.some((error) => error !== undefined && isAboutTheLink(error))) return 'again';
    const index = errors.findIndex((error) => error !== undefined && error.code !== 'NO_NODE');
    return index === -1 ? 'done' : { path: paths[index]!, error: errors[index]! };
  }
}
