import type { SessionError } from '../errors.js';
import type { Watcher } from '../requests.js';
import type { Call } from './call.js';
import type { RemovableWatch } from './link.js';

/** Forget what was answered once this much of the array is behind us. */
const COMPACT_AT = 1_024;

/** Calls that were sent and not answered, in the order in which the server must answer them. */
export class PendingCalls {
  #calls: Call[] = [];
  #head = 0;

  push(call: Call): void {
    this.#calls.push(call);
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
    return call;
  }

  /** Takes the wish to watch out of calls that were not answered yet. @returns whether there was one */
  unwatch(path: string, watcher: Watcher): boolean {
    let found = false;
    for (const call of this.#open()) {
      if (call.watcher !== watcher || !call.wantsWatchOn(path)) continue;
      call.unwatched = true;
      found = true;
    }
    return found;
  }

  wantWatchOn(path: string, kind: RemovableWatch): boolean {
    return this.#open().some((call) => call.watchTable === kind && call.wantsWatchOn(path));
  }

  /** Nothing more will be answered. */
  settleAll(error: (call: Call) => SessionError): void {
    const calls = this.#open();
    this.#calls = [];
    this.#head = 0;
    for (const call of calls) call.settle(error(call));
  }

  #open(): Call[] {
    return this.#calls.slice(this.#head);
  }
}
