import { type Observable, ReplaySubject, share, takeUntil, tap, timer } from 'rxjs';
import { LockClosedError } from '../../lock/errors.js';
import type { LockSnapshot } from '../../lock/snapshot.js';
import type { BreakOptions, BreakResult } from '../doctor/break-lock.js';
import type { ClearOptions, ClearResult } from '../doctor/clear-record.js';
import type { DrainOptions, DrainResult } from '../doctor/drain-queue.js';
import type { LockHistory } from '../doctor/lock-history.js';
import type { LockScan } from '../doctor/lock-scan.js';
import type { WaitGraph } from '../doctor/wait-graph.js';
import { SharedLook } from './shared-look.js';

/** The dashboard asks this of a lock doctor. */
export interface DashboardDoctor {
  scan(options: { readonly signal: AbortSignal }): Promise<LockScan>;
  graph(options: { readonly signal: AbortSignal }): Promise<WaitGraph>;
  inspect(key: string): Promise<LockSnapshot>;
  history(key: string): Promise<LockHistory>;
  break(key: string, options: BreakOptions): Promise<BreakResult>;
  drain(key: string, options: DrainOptions): Promise<DrainResult>;
  clear(key: string, options: ClearOptions): Promise<ClearResult>;
  close(): Promise<void>;
}

/** One lock, as its page shows it. */
export interface LockLook {
  readonly at: Date;
  readonly snapshot: LockSnapshot;
  readonly history: LockHistory;
}

/**
 * Reads the locks for all visitors of this process. ZooKeeper does not feel how many they are: in each interval there is at most
 * one scan, and one look at each lock whose page is open. While nobody looks, nothing is read.
 */
export class LiveLocks {
  readonly #open: () => Promise<DashboardDoctor>;
  readonly #scanEveryMs: number;
  readonly #end = new AbortController();
  readonly #ended = new ReplaySubject<void>(1);
  #doctor: Promise<DashboardDoctor> | undefined;
  readonly #scan: SharedLook<LockScan>;
  readonly #graph: SharedLook<WaitGraph>;
  readonly #looks = new Map<string, SharedLook<LockLook>>();

  /** Emits when it is time to look again, to all who listen at the same moments. Completes at shutdown. */
  readonly ticks$: Observable<number>;

  /** @param open opens the lock doctor, when somebody looks for the first time */
  constructor(open: () => Promise<DashboardDoctor>, scanEveryMs: number) {
    this.#open = open;
    this.#scanEveryMs = scanEveryMs;
    const { signal } = this.#end;
    this.#scan = new SharedLook(async () => (await this.doctor()).scan({ signal }), scanEveryMs);
    this.#graph = new SharedLook(async () => (await this.doctor()).graph({ signal }), scanEveryMs);
    this.ticks$ = timer(scanEveryMs, scanEveryMs).pipe(
      tap(() => this.#expire()),
      share(),
      takeUntil(this.#ended),
    );
  }

  scan(): Promise<LockScan> {
    return this.#scan.get();
  }

  graph(): Promise<WaitGraph> {
    return this.#graph.get();
  }

  look(key: string): Promise<LockLook> {
    for (const [other, look] of this.#looks) if (look.isOver) this.#looks.delete(other);
    const look = this.#looks.get(key) ?? new SharedLook(() => this.#lookAt(key), this.#scanEveryMs);
    this.#looks.set(key, look);
    return look.get();
  }

  /** The lock doctor, opened when it is needed for the first time; the next one who asks tries again where that failed. */
  doctor(): Promise<DashboardDoctor> {
    // Nobody would close what is opened after the end.
    if (this.#end.signal.aborted) return Promise.reject(new LockClosedError('The application has shut down'));
    if (this.#doctor === undefined) {
      const opening = this.#open();
      this.#doctor = opening;
      opening.catch(() => (this.#doctor = undefined));
    }
    return this.#doctor;
  }

  /** After something was done to a lock: nobody is to be shown what was before. */
  forget(key: string): void {
    this.#scan.forget();
    this.#graph.forget();
    this.#looks.delete(key);
  }

  /** Ends the streams: the servers that are about to close wait for every open answer. */
  endStreams(): void {
    this.#ended.next();
  }

  async close(): Promise<void> {
    this.endStreams();
    this.#end.abort();
    const doctor = await this.#doctor?.catch(() => undefined);
    await doctor?.close();
  }

  async #lookAt(key: string): Promise<LockLook> {
    const doctor = await this.doctor();
    const [snapshot, history] = await Promise.all([doctor.inspect(key), doctor.history(key)]);
    return { at: new Date(), snapshot, history };
  }

  #expire(): void {
    for (const look of [this.#scan, this.#graph, ...this.#looks.values()]) look.expire();
  }
}
