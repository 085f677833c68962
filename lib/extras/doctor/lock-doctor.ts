import type { Observable } from 'rxjs';
import { type LockService, sessionAccess } from '../../engine/lock-service.js';
import { wallNow } from '../../lock/clock.js';
import { withJson } from '../../lock/json.js';
import type { LockSnapshot } from '../../lock/snapshot.js';
import type { ClosableLockService } from '../../open.js';
import type { Intervention } from '../../queue/intervention.js';
import { PatientLink } from '../../session/patient-link.js';
import type { Session } from '../../session/session.js';
import {
  type ClearFacts,
  type ClearOptions,
  clearRecord,
  type ClearResult,
  type ClearResultJson,
} from './clear-record.js';
import { Audit, type DoctorEvent, type DoctorLogger } from './audit.js';
import { type BreakOptions, type BreakResult, BrokenLock } from './break-lock.js';
import { ANSWER_WITHIN_MS, checkStepOptions, MUST_BE_TOKEN, STEP_RULES } from './doctor-options.js';
import { DrainedQueue, type DrainOptions, type DrainResult } from './drain-queue.js';
import type { ExamineOptions, LockExamination } from './lock-examination.js';
import type { LockHistory } from './lock-history.js';
import { LockReader } from './lock-reader.js';
import type { LockScan, ScanOptions } from './lock-scan.js';
import { findHolder } from './queue-look.js';
import type { WaitGraph } from './wait-graph.js';

const BREAK_GRACE_MS = 10_000;
const DRAIN_GRACE_MS = 5_000;

/**
 * For people, and tools in their hands, who must end what does not end by itself. It has a session of its own. Whoever may write to the
 * nodes of the locks may do what it does.
 */
export class LockDoctor implements AsyncDisposable {
  readonly #service: LockService & Pick<ClosableLockService, 'close'>;
  readonly #audit: Audit;
  readonly #reader: LockReader;

  /** @internal Use `createLockDoctor`. */
  constructor(service: LockService & Pick<ClosableLockService, 'close'>, logger?: DoctorLogger) {
    this.#service = service;
    this.#audit = new Audit(logger);
    this.#reader = new LockReader(() => service[sessionAccess]());
  }

  /** Tells each step that this doctor has taken, for an audit trail. Completes when the doctor is closed. */
  get events$(): Observable<DoctorEvent> {
    return this.#audit.events$.asObservable();
  }

  /**
   * All keys below a prefix that have contenders, or a record that closes them. It reads the whole part of the tree, in batches, behind
   * one write that changes nothing. The keys are read one after the other, so they are not of one moment; a key that vanishes
   * meanwhile is left out.
   * @throws LockConfigurationError where the prefix may not be read, LockUnavailableError where answers stay away, LockAbortedError
   */
  scan(options: ScanOptions = {}): Promise<LockScan> {
    return this.#reader.scan(options);
  }

  /** One key, who holds and who waits: a strong read, as `LockService.inspect`. */
  inspect(key: string): Promise<LockSnapshot> {
    return this.#service.inspect(key);
  }

  /** Snapshots of one key as they change, as `LockService.watch`. */
  watch(key: string): Observable<LockSnapshot> {
    return this.#service.watch(key);
  }

  /** Finds out who waits for whom, in all processes, and the cycles in it, which are deadlocks. It reads as `scan` does. */
  graph(options: ScanOptions = {}): Promise<WaitGraph> {
    return this.#reader.graph(options);
  }

  /** The last holds of a key, where the option `history` of the lock services keeps them; else none. */
  history(key: string): Promise<LockHistory> {
    return this.#reader.history(key);
  }

  /** Tells what somebody should know of the locks below a prefix, and what to do. It reads as `scan` does. */
  examine(options: ExamineOptions = {}): Promise<LockExamination> {
    return this.#reader.examine(options);
  }

  /**
   * Takes the lock away from one holder. It is told at once (LOCK_BROKEN: `signal` aborts, `isHeld()` is false, `onLost` runs), and its
   * node goes on keeping others out until its work has ended, for `graceMs` at the most. Then exactly that node is removed. A
   * holder that cannot be told (a paused process, a client of another make) keeps others out for the whole grace.
   * @throws StaleFencingTokenError where nobody holds the lock with this token: nothing is written
   */
  async break(key: string, options: BreakOptions): Promise<BreakResult> {
    const queuePath = this.#queuePathOf(key);
    const rules = { ...STEP_RULES, token: MUST_BE_TOKEN };
    checkStepOptions('break', options, { rules, required: ['token', 'by', 'reason'] }, key);
    const { token, by, reason, graceMs = BREAK_GRACE_MS } = options;
    const { clock } = this.#session;
    // The wall clock may be set in between, so it dates the event and measures nothing.
    const startedAt = clock.now();
    const act = async (): Promise<BreakResult> => {
      const link = this.#link(key, graceMs);
      const holder = await findHolder(link, key, queuePath, token);
      const ended = await new BrokenLock(link, queuePath, holder).end(this.#intervention(options), graceMs);
      const tookMs = Math.round(clock.now() - startedAt);
      return withJson({ key, token, nodePath: holder.path, ended, tookMs });
    };
    return this.#audit.of(`Break of ${key} (token ${token})`, options, act, ({ ended, tookMs }) => ({
      line: `the holder is gone, ${ended}, after ${tookMs} ms`,
      event: { type: 'broken', key, by, reason, token, outcome: ended, at: new Date(wallNow(clock)) },
    }));
  }

  /**
   * Ends all waits for the lock: these calls fail with LOCK_DRAINED. Those who hold it go on, and whoever asks afterwards queues as
   * usual. Waiters of other makes find their nodes removed, and do then what they do.
   */
  async drain(key: string, options: DrainOptions): Promise<DrainResult> {
    const queuePath = this.#queuePathOf(key);
    checkStepOptions('drain', options, { rules: STEP_RULES, required: ['by', 'reason'] }, key);
    const { by, reason, graceMs = DRAIN_GRACE_MS } = options;
    const act = async (): Promise<DrainResult> => {
      const queue = new DrainedQueue(this.#link(key, graceMs), key, queuePath);
      return withJson({ key, removed: await queue.end(this.#intervention(options), graceMs) });
    };
    return this.#audit.of(`Drain of ${key}`, options, act, ({ removed }) => ({
      line: `${removed} waits were ended`,
      event: { type: 'drained', key, by, reason, removed, at: new Date(wallNow(this.#session.clock)) },
    }));
  }

  /**
   * Opens a key that is closed, because a holder vanished inside (LOCK_ABANDONED): once what it left is repaired by hand. The next one
   * enters as after an orderly release, and is told of nothing.
   * @throws StaleFencingTokenError where that holder is not in the record, or somebody is inside: nothing is written
   */
  async clear(key: string, options: ClearOptions): Promise<ClearResult> {
    const queuePath = this.#queuePathOf(key);
    const rules = { by: STEP_RULES.by, reason: STEP_RULES.reason, token: MUST_BE_TOKEN };
    checkStepOptions('clear', options, { rules, required: ['token', 'by', 'reason'] }, key);
    const { token, by, reason } = options;
    const act = async (): Promise<ClearResult> => {
      const abandoned = await clearRecord(this.#link(key, 0), key, queuePath, token);
      return withJson<ClearFacts, ClearResultJson>({ key, token, abandoned }, () => ({
        key,
        token: String(token),
        abandoned: abandoned.toJSON(),
      }));
    };
    return this.#audit.of(`Clear of ${key} (token ${token})`, options, act, () => ({
      line: 'the holder that vanished is forgotten, and the key is open',
      event: { type: 'cleared', key, by, reason, token, at: new Date(wallNow(this.#session.clock)) },
    }));
  }

  /** Ends the doctor's session. A step that is under way fails, and has done what it has done by then. */
  async close(): Promise<void> {
    // A doctor holds no locks, so there is nothing to wait for.
    await this.#service.close(0);
    this.#audit.events$.complete();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #session(): Session {
    return this.#service[sessionAccess]().session;
  }

  #queuePathOf(key: string): string {
    return this.#service[sessionAccess]().queuePathOf(key);
  }

  #link(key: string, graceMs: number): PatientLink {
    const { session, waitMs } = this.#service[sessionAccess]();
    // The grace is time that others get. The servers' answers need theirs besides, also where `waitMs` is 0.
    return new PatientLink(session, key, graceMs + (waitMs || ANSWER_WITHIN_MS));
  }

  #intervention({ by, reason }: { readonly by: string; readonly reason: string }): Intervention {
    return { by, reason, at: wallNow(this.#session.clock) };
  }
}
