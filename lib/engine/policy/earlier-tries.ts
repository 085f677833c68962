import type { Clock } from '../../lock/clock.js';
import { decideByRecord, type KeptOut, parseRecord } from '../../queue/key-record.js';
import { SessionError } from '../../session/errors.js';
import type { Children, GetRequest, Outcome } from '../../session/requests.js';
import { RecentMap } from '../collections.js';
import type { LockRequest } from '../contender.js';
import { throwRefusal, vanishedInside } from '../error-texts.js';
import type { RecordWishes } from './record-wishes.js';

/** At most this many keys are remembered. The delay of a forgotten key counts anew, and its last run is asked for again. */
const MAX_KNOWN = 10_000;

/**
 * Remembers when this process first saw that a holder had vanished. A call that only tries does not stay in the queue until the
 * lock-delay is over, so earlier tries count. The time is that of this process's monotonic clock, as the servers' clocks may jump.
 */
export class VanishedHolders {
  readonly #first = new RecentMap<string, { readonly nodeName: string; readonly at: number }>(MAX_KNOWN);

  constructor(private readonly clock: Clock) {}

  /** Only the first time counts. `nodeName` must be known to be gone: it never comes back. */
  sawGone(queuePath: string, nodeName: string): void {
    if (this.#first.get(queuePath)?.nodeName === nodeName) return;
    this.#first.set(queuePath, { nodeName, at: this.clock.now() });
  }

  /** @returns for how long it has been known that this holder vanished; 0 when it is not known */
  ageMs(queuePath: string, nodeName: string): number {
    const first = this.#first.get(queuePath);
    return first?.nodeName === nodeName ? this.clock.now() - first.at : 0;
  }

  forget(queuePath: string): void {
    this.#first.delete(queuePath);
  }
}

/**
 * Remembers until when keys are busy after their last run, so that a call that only tries costs no write in that time: what time it is
 * at the servers shows only when a node is made.
 */
export class RecentRuns {
  readonly #busy = new RecentMap<string, { readonly change: bigint; readonly until: number }>(MAX_KNOWN);

  constructor(private readonly clock: Clock) {}

  /** @param change the last change of the record, which tells of the run */
  isBusy(queuePath: string, change: bigint, until: number): void {
    this.#busy.set(queuePath, { change, until });
  }

  /** @returns for how long the key stays busy, as far as is known; 0 where nothing is known */
  busyForMs(queuePath: string, change: bigint): number {
    const run = this.#busy.get(queuePath);
    return run?.change === change ? Math.max(0, run.until - this.clock.now()) : 0;
  }
}

/** What keeps out calls that only try, by the record of their key and by what earlier tries of this process have found. */
export class EarlierTries {
  readonly #wishes: RecordWishes;
  readonly #vanished: VanishedHolders;
  readonly #runs: RecentRuns;

  constructor(clock: Clock, wishes: RecordWishes) {
    this.#wishes = wishes;
    this.#vanished = new VanishedHolders(clock);
    this.#runs = new RecentRuns(clock);
  }

  /**
   * What keeps out a call that finds nobody in its way.
   * @throws LockAbandonedError
   */
  keepsOut(
    { key, queuePath, options }: LockRequest,
    parent: Outcome<GetRequest>,
    listed: Children,
  ): KeptOut | undefined {
    if (parent instanceof SessionError) throwRefusal(parent, key);
    if (parent instanceof SessionError) return undefined;
    const forMs = this.#runs.busyForMs(queuePath, parent.stat.mzxid);
    if (forMs > 0) return { kind: 'busy', forMs };
    const record = parseRecord(parent.data);
    const { inside } = record;
    if (inside === undefined) this.#vanished.forget(queuePath);
    // A holder that is named in the record and is not in the list has vanished, if the list is of the time of that record: it may
    // have released its lock between the two reads. Then the try goes on, and reads again from its place in the queue.
    const isSameRecord = listed.stat.mzxid === parent.stat.mzxid;
    if (inside === undefined || !isSameRecord || listed.children.includes(inside.name)) return undefined;
    // Whether the last run began long enough ago is for the servers' clock to say, which shows when a node is made.
    const anyTime = { name: '', waitedFor: undefined, serverMs: Infinity, isClockNewer: false };
    const verdict = decideByRecord(record, parent.stat.mtime, { ...anyTime, ...this.#wishes.of(options) });
    if (verdict.kind === 'closed') throw vanishedInside(key, verdict.vanished, verdict.because);
    if (verdict.kind !== 'delayed') return undefined;
    this.#vanished.sawGone(queuePath, verdict.holder.name);
    return this.isDelayOver(queuePath, verdict) ? undefined : verdict;
  }

  isDelayOver(queuePath: string, { holder, forMs }: Extract<KeptOut, { kind: 'delayed' }>): boolean {
    return this.#vanished.ageMs(queuePath, holder.name) >= forMs;
  }

  /** @param change the last change of the record, which tells of a run that keeps the key busy */
  sawBusy({ queuePath, askedAt }: LockRequest, change: bigint, forMs: number): void {
    this.#runs.isBusy(queuePath, change, askedAt + forMs);
  }
}
