import type { Clock, Timer } from '../../lock/clock.js';
import type { SessionError } from '../errors.js';
import type { Watcher } from '../requests.js';
import type { Call } from './call.js';
import type { RemovableWatch } from './link.js';

/** Answered calls at the front of the array are dropped once there are this many of them. */
const COMPACT_AT = 1_024;

const PAUSE_MS = 200;
/** Calls that were answered together are not sent again together. */
const APART_MS = 2;
/**
 * No call waits behind all the others for longer than this: it may be a heartbeat that locks depend on. Calls beyond
 * that share the same instants.
 */
const LONGEST_MS = 2 * PAUSE_MS;

const NO_TABLES: ReadonlySet<RemovableWatch> = new Set();

/** Calls that were sent and are not answered yet, in the order in which the server must answer them. */
export class PendingCalls {
  #calls: Call[] = [];
  #head = 0;
  /** Calls that ask for a watch, by path, so that taking one back does not search all calls. */
  readonly #wishes = new Map<string, Set<Call>>();

  get isEmpty(): boolean {
    return this.#head === this.#calls.length;
  }

  push(call: Call): void {
    this.#calls.push(call);
    if (call.watcher === undefined || call.path === undefined) return;
    const wishes = this.#wishes.get(call.path);
    if (wishes === undefined) this.#wishes.set(call.path, new Set([call]));
    else wishes.add(call);
  }

  shift(): Call | undefined {
    const call = this.#calls[this.#head];
    if (call === undefined) return undefined;
    this.#head += 1;
    if (this.#head === this.#calls.length) {
      // To empty an array by its length gives its memory back, which a quiet session would ask for again at its next request.
      if (this.#head === 1) this.#calls.pop();
      else this.#calls.length = 0;
      this.#head = 0;
    } else if (this.#head >= COMPACT_AT) {
      this.#calls.splice(0, this.#head);
      this.#head = 0;
    }
    if (call.watcher !== undefined) this.#forget(call);
    return call;
  }

  /** Takes the wish for a watch out of calls that are not answered yet. @returns the tables of these watches */
  unwatch(path: string, watcher: Watcher): ReadonlySet<RemovableWatch> {
    const wishes = this.#wishes.get(path);
    if (wishes === undefined) return NO_TABLES;
    const tables = new Set<RemovableWatch>();
    for (const call of wishes) {
      if (call.watcher !== watcher || call.unwatched) continue;
      call.unwatched = true;
      tables.add(call.watchTable!);
    }
    return tables;
  }

  wantWatchOn(path: string, kind: RemovableWatch): boolean {
    for (const call of this.#wishes.get(path) ?? []) if (call.watchTable === kind && !call.unwatched) return true;
    return false;
  }

  /** A removal of the watches on this path is sent behind these calls. */
  removedBehind(path: string, kind: RemovableWatch): void {
    for (const call of this.#wishes.get(path) ?? []) if (call.watchTable === kind) call.isRemovedBehind = true;
  }

  /** Settles every call: no answer will come any more. */
  settleAll(error: (call: Call) => SessionError): void {
    const calls = this.#calls.slice(this.#head);
    // Settling runs callers' code, which may look at this list: it is empty by then.
    this.#calls = [];
    this.#head = 0;
    this.#wishes.clear();
    for (const call of calls) call.settle(error(call));
  }

  #forget(call: Call): void {
    const wishes = this.#wishes.get(call.path ?? '');
    wishes?.delete(call);
    if (wishes?.size === 0) this.#wishes.delete(call.path ?? '');
  }
}

/**
 * Keeps back the answer of a server that is too busy. A caller that gets it asks again at once, over and over, and this
 * is the one place that all callers pass.
 */
export class ThrottledAnswers {
  readonly #clock: Clock;
  readonly #waiting = new Map<Call, { readonly outcome: SessionError; readonly timer: Timer }>();
  #lastAt = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(call: Call, outcome: SessionError): void {
    const now = this.#clock.now();
    const nextAt = Math.max(now + PAUSE_MS, this.#lastAt + APART_MS);
    // A pause that would grow too long starts over at the shortest one.
    this.#lastAt = nextAt <= now + LONGEST_MS ? nextAt : now + PAUSE_MS;
    const timer = this.#clock.setTimer(this.#lastAt - now, () => {
      this.#waiting.delete(call);
      call.settle(outcome);
    });
    this.#waiting.set(call, { outcome, timer });
  }

  /** The connection is over: requests that follow go to another server, and later. */
  settleAll(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const [call, { outcome, timer }] of waiting) {
      timer.cancel();
      call.settle(outcome);
    }
  }
}
