import type { LockEvent } from '../../../lib/lock/events.js';
import { isUp } from '../../../lib/session/connection-state.js';
import { SeededRandom } from '../../../lib/session/simulator/time/random.js';
import { SimulatedWorld } from './simulated-world.js';
import type { SessionClient } from '../../../lib/session/core/session-client.js';
import { AppProcess } from './app-process.js';
import { CommitTap } from './commit-tap.js';
import { FencedStore } from './fenced-store.js';
import { FullQueues } from './full-queues.js';
import { GrantBook } from './grant-book.js';
import { Journal } from './journal.js';
import { Judge } from './judge.js';
import { PendingPromises } from './pending-promises.js';
import type { RareState } from './rare-states.js';
import { RecordBook } from './record-book.js';
import type { RecordDoctor } from './record-doctor.js';
import { RecordFaults } from './record-faults.js';
import { RecordTruth } from './record-truth.js';
import type { Scenario } from './scenario.js';
import type { Surgeon } from './surgeon.js';
import { drainMarker } from './surgery.js';

/** More than any run takes: a schedule that stands still ends here. */
const ENOUGH_MS = 10_000_000;

/** One simulated fleet with everything that looks at it: the stage on which callers and faults act. */
export class Schedule {
  readonly world: SimulatedWorld;
  readonly journal: Journal;
  readonly judge: Judge;
  readonly book: GrantBook;
  readonly tap: CommitTap;
  readonly store: FencedStore;
  readonly promises: PendingPromises;
  readonly recordTruth: RecordTruth;
  readonly records: RecordBook;
  readonly recordFaults: RecordFaults;
  readonly fullQueues: FullQueues;
  readonly reached = new Set<RareState>();
  readonly apps: AppProcess[] = [];
  readonly random: SeededRandom;
  /** No caller begins anything new, no fault happens any more. */
  isQuiet = false;
  /** Somebody with a client of his own, who deletes what he thinks is in the way. */
  operator: SessionClient | undefined;
  /** Somebody who breaks locks and drains queues, by the lock doctor. */
  surgeon: Surgeon | undefined;
  /** Somebody who clears the records of keys that are closed. */
  doctor: RecordDoctor | undefined;
  readonly endFaults = new Set<() => void>();
  #busyCallers = 0;
  readonly #endings: { readonly app: AppProcess; readonly end: () => void }[] = [];

  constructor(
    readonly scenario: Scenario,
    print?: (line: string) => void,
  ) {
    const { seed, servers, tickMs, clientLatencyMs, peerLatencyMs, logMs, containerCheckMs } = scenario;
    const latencies = { clientLatencyMs, peerLatencyMs, logMs };
    this.world = new SimulatedWorld({ seed, servers, tickMs, ...latencies, containerCheckMs });
    this.random = new SeededRandom(seed).fork('schedule');
    const now = (): number => this.world.now();
    this.journal = new Journal(print);
    this.judge = new Judge(now, this.journal);
    this.book = new GrantBook(scenario, now, this.judge, () => this.world.ensemble.timeline.noteOutsideCall());
    const reached = (state: RareState): void => void this.reached.add(state);
    this.recordFaults = new RecordFaults(this);
    this.recordTruth = new RecordTruth(
      this.book,
      this.judge,
      { now, wallNow: () => this.world.ensemble.timeline.wallNow() },
      (sessionId) => this.#appOf(sessionId)?.linkChanges ?? 0,
      {
        cleared: (queuePath, zxid) => {
          this.records.cleared(queuePath.slice(scenario.namespace.length), zxid);
          this.book.lockDelays.cleared(queuePath);
        },
        tookItselfOut: (queuePath, zxid) =>
          this.records.tookItselfOut(queuePath.slice(scenario.namespace.length), zxid),
      },
      this.recordFaults,
      reached,
    );
    this.records = new RecordBook(scenario, this.judge, this.recordTruth, reached);
    this.fullQueues = new FullQueues(
      this.book.truth,
      this.judge,
      (sessionId) => this.#appOf(sessionId),
      (token) => this.recordTruth.labelOf(token),
      reached,
    );
    this.tap = new CommitTap(this);
    this.store = new FencedStore(this.judge);
    this.promises = new PendingPromises(now, this.judge);
  }

  get now(): number {
    return this.world.now();
  }

  get liveApps(): AppProcess[] {
    return this.apps.filter((app) => !app.isKilled && !app.isClosing);
  }

  get areCallersDone(): boolean {
    return this.#busyCallers === 0;
  }

  /** Where the contenders of a key stand. */
  queuePath(key: string): string {
    return this.scenario.namespace + key;
  }

  start(name: string, onSuspended: 'continue' | 'stop' = 'continue'): AppProcess {
    const app = new AppProcess(this.world, this.scenario, name, { onSuspended });
    this.apps.push(app);
    this.note(`${name} starts`);
    app.session.state$.subscribe(() => (app.linkChanges += 1));
    app.service.events$.subscribe((event) => {
      this.note(`${name} ${event.type} ${event.key} ${'reason' in event ? event.reason : ''}`);
      this.records.heard(app, event);
      if (event.type === 'released') this.recordFaults.released(app);
      if (event.type === 'acquired') this.#entered(app, event);
      if (event.type === 'requeued' && event.reason === 'removed' && !this.#mayBeRemoved(app))
        this.#checkRequeue(name, this.queuePath(event.key));
      if (event.type !== 'lost') return;
      this.book.surgery.lost(app, event.token, event.reason);
      if (event.reason === 'removed' && !this.#mayBeRemoved(app)) this.book.lostByRemoval(event.token);
      if (this.scenario.profile !== 'calm') return;
      if (
        event.reason !== 'lease-ended' &&
        event.reason !== 'removed' &&
        event.reason !== 'closed' &&
        (event.reason !== 'broken' || this.surgeon === undefined) &&
        event.reason !== 'sibling-lost'
      ) {
        this.judge.blame('no false loss', `${name} lost ${event.key} (${event.reason}) and nothing had happened`);
      }
    });
    return app;
  }

  #appOf(sessionId: bigint): AppProcess | undefined {
    return this.apps.find(({ session }) => session.identity?.id === sessionId);
  }

  #checkRequeue(name: string, queuePath: string): void {
    if (!this.book.surgery.hasDrained(queuePath))
      this.judge.blame('first come, first served', `${name} gave up its place at ${queuePath}: nobody had removed it`);
    else if (this.world.leaderId !== undefined && this.world.stat(drainMarker(queuePath)) !== undefined)
      this.judge.blame('waits are ended', `${name} queues again at ${queuePath}, which is being drained`);
  }

  /** A contender begins to hold. Its caller hears of that a little later, when the link may have gone down again. */
  #entered({ name, session }: AppProcess, { key, token }: Extract<LockEvent, { type: 'acquired' }>): void {
    this.book.firstInLine.entered(token);
    if (isUp(session.state)) return;
    this.judge.blame('granted is held', `${name} entered ${key} while the link was ${session.state}`);
  }

  /** Whether somebody removes the nodes of others here, or the session of this process has ended without its knowledge. */
  #mayBeRemoved({ session }: AppProcess): boolean {
    const { profile } = this.scenario;
    const hasOperator = profile !== 'processes' && profile !== 'network' && profile !== 'servers';
    return hasOperator || session.identity === undefined || this.book.hasEnded(session.identity.id);
  }

  kill(app: AppProcess): void {
    app.kill();
    this.book.killed(app);
    this.records.killed(app);
  }

  /** Waits for what the surgeon has begun, and lets it leave. */
  async closeSurgeon(): Promise<void> {
    const { surgeon } = this;
    if (surgeon === undefined) return;
    await this.runUntil(() => !surgeon.isAtWork);
    let isClosed = false;
    void surgeon.close().then(() => (isClosed = true));
    await this.runUntil(() => isClosed);
  }

  /**
   * Something of an application begins, a caller, or the work of one: where the lock is lost or broken, that goes on after the call has
   * been told, and its node perhaps as well. @returns to be called when it has ended
   */
  begins(app: AppProcess): () => void {
    this.#busyCallers += 1;
    let isCounted = true;
    const end = (): void => {
      if (isCounted) this.#busyCallers -= 1;
      isCounted = false;
    };
    this.#endings.push({ app, end });
    return end;
  }

  /** Runs a caller; `areCallersDone` when all have ended, with their work, or their processes are gone. */
  call(app: AppProcess, run: () => Promise<void>): void {
    const end = this.begins(app);
    run().then(end, (error: unknown) => {
      end();
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.judge.blame('honest errors', `${app.name}: ${text}`);
    });
  }

  forgetCallersOf(app: AppProcess): void {
    for (const ending of this.#endings) if (ending.app === app) ending.end();
  }

  /** Something outside of all processes happens after a while. */
  after(delayMs: number, act: () => void): void {
    const { timeline } = this.world.ensemble;
    timeline.after(delayMs, () => {
      timeline.noteOutsideCall();
      act();
    });
  }

  note(line: string): void {
    this.journal.note(this.now, line);
  }

  /** Lets time pass, looking at every holder after every event, until `condition`; stops at the first violation. */
  async runUntil(condition: () => boolean, withinMs = ENOUGH_MS): Promise<boolean> {
    const limitAtMs = this.now + withinMs;
    // Without this, time would jump over the limit.
    this.world.ensemble.timeline.after(withinMs, () => undefined);
    let met = false;
    await this.world.runUntil(() => {
      this.records.settle();
      this.book.look();
      met = condition();
      return met || this.judge.violations.length > 0 || this.now >= limitAtMs;
    }, withinMs + 1);
    return met;
  }

  runFor(durationMs: number): Promise<boolean> {
    return this.runUntil(() => false, durationMs);
  }
}
