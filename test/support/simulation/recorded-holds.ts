import type { AppProcess } from './app-process.js';
import type { RecordCall, Told } from './record-calls.js';

/** What stands in the record of a key, by the tokens of those that vanished. */
export interface Found {
  readonly holder: bigint;
  readonly recoverer: bigint | undefined;
}

/** What is known besides of how a hold has ended. */
interface Servers {
  isRemovedByOthers(path: string): boolean;
  /** In which transaction it has taken its name out of the record, its node being gone already; undefined: it has not. */
  outSince(path: string): bigint | undefined;
  /** Whether the work under it ended in order although its lock had been lost, as somebody had broken it. */
  endOfBroken(hold: RecordedHold): 'released' | 'lost' | 'unknown';
}

/** A hold that may stand in the record of its key. */
export class RecordedHold {
  ended: 'released' | 'lost' | undefined;
  /** What its application was told, and what that says of the record. */
  told: Told | undefined;
  found: Found | undefined;
  /** Its call has returned, so what it found is told, and recovered if it had to be. */
  isHandedOut = false;
  /** It was a reader when it was told, and has become a writer since. */
  isUpgraded = false;
  /** As a reader it may stand in the record all the same, where it tried to become a writer. */
  hasTriedToWrite = false;

  constructor(
    readonly app: AppProcess,
    readonly key: string,
    readonly token: bigint,
    readonly path: string,
    readonly call: RecordCall | undefined,
    /** Whether it is a writer; an upgrade makes it one. */
    public writes: boolean,
  ) {}

  get name(): string {
    return `${this.call?.label ?? `one of ${this.app.name}`} with ${this.path}`;
  }

  /** What the next one may find: of several, nobody can know which. */
  mayLeave(servers: Servers): (Found | undefined)[] {
    const before = this.mayHaveLeft(servers);
    // It had not vanished, and what it left is known from then on.
    const isOut = servers.outSince(this.path) !== undefined;
    return isOut && before.includes(this.#asReleased) ? [this.#asReleased] : before;
  }

  /** The same for one that may have looked before a release that came late. */
  mayHaveLeft(servers: Servers): (Found | undefined)[] {
    const asVanished = this.#asVanished();
    const ended = this.ended === 'lost' ? servers.endOfBroken(this) : this.ended;
    if (ended === undefined || ended === 'lost') return asVanished;
    const isLate = ended === 'unknown' || servers.isRemovedByOthers(this.path);
    return isLate ? [this.#asReleased, ...asVanished] : [this.#asReleased];
  }

  get #asReleased(): Found | undefined {
    return this.isHandedOut ? undefined : this.found;
  }

  #asVanished(): Found[] {
    const alone: Found = { holder: this.token, recoverer: undefined };
    if (this.found === undefined) return [alone];
    const both: Found = { holder: this.found.holder, recoverer: this.token };
    if (this.call?.recovery === undefined) return [both];
    if (this.isHandedOut) return [alone];
    // That it has recovered may have been written down without an answer.
    return this.call.recovery.state === 'ran' ? [alone, both] : [both];
  }
}

export function foundIn({ token, recoverer }: Told): Found {
  return { holder: token, recoverer: recoverer?.token };
}

export function isSame(one: Found | undefined, other: Found | undefined): boolean {
  return one?.holder === other?.holder && one?.recoverer === other?.recoverer;
}

export function sayFound(found: Found | undefined): string {
  if (found === undefined) return 'nobody';
  const then = found.recoverer === undefined ? '' : ` and then ${found.recoverer.toString(16)}`;
  return found.holder.toString(16) + then;
}
