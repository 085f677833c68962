import type { SessionError } from '../errors.js';
import type { Watcher } from '../requests.js';
import type { Call } from './call.js';
import type { RemovableWatch } from './link.js';

/** Answered calls at the front of the array are dropped once there are this many of them. */
const COMPACT_AT = 1_024;

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
      this.#calls.length = 0;
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
    const tables = new Set<RemovableWatch>();
    for (const call of this.#wishes.get(path) ?? []) {
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
