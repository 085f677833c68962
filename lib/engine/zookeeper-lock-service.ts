import type { Observable } from 'rxjs';
import { type AcquireOptions, checkAcquireOptions, checkGraceMs } from '../lock/acquire-options.js';
import { answerWithinMs, Deadline } from '../lock/deadline.js';
import { DeadlockError, LockAbortedError, LockClosedError, LockLostError } from '../lock/errors.js';
import type { LockEvent } from '../lock/events.js';
import type { LockHandle, MultiLockHandle } from '../lock/handle.js';
import type { LockSnapshot } from '../lock/snapshot.js';
import type { ConnectionState } from '../session/connection-state.js';
import type { Session } from '../session/session.js';
import { buildContext } from './build-context.js';
import type { EngineContext, EngineSettings, SharedParts } from './context.js';
import { Doorway } from './doorway.js';
import { giveBack } from './give-back.js';
import { inspectKey } from './inspect.js';
import {
  type AcquireAllOptions,
  type KeyWithMode,
  LockService,
  type LockTransaction,
  type SessionAccess,
  sessionAccess,
} from './lock-service.js';
import { LockEvents } from './lock-events.js';
import { type CallFacts, LockTaker } from './lock-taker.js';
import { canonicalOrder, HeldLocks, SharedFate } from './multi-lock.js';
import { currentFrame, type OwnedLock, type OwnerFrame, runInFrame } from './owner-context.js';
import { GrowingTransaction } from './transaction.js';
import { untilDoneOrLost } from './until-done-or-lost.js';
import { watchKey } from './watch-key.js';

const MAX_TRANSACTION_PAUSE_MS = 100;
/** How long the end of the session may take at shutdown; after that it ends by its time-out. */
const CLOSE_WITHIN_MS = 1_000;

/** The lock service over a session; `local` gives out locks of this process when ZooKeeper is not to be had. */
export class ZookeeperLockService extends LockService implements AsyncDisposable {
  readonly #context: EngineContext;
  readonly #local: ZookeeperLockService | undefined;
  readonly #taker: LockTaker;
  #holdersEnded: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(
    session: Session,
    settings: EngineSettings,
    local?: (shared: SharedParts) => ZookeeperLockService,
    shared: SharedParts = { events: new LockEvents(), doorway: local === undefined ? undefined : new Doorway() },
  ) {
    super();
    this.#context = buildContext(session, settings, shared);
    this.#local = local?.(shared);
    this.#taker = new LockTaker(this.#context, this.#local === undefined ? undefined : this.#local.#taker);
  }

  get sessionId(): bigint | undefined {
    return this.#context.session.identity?.id;
  }

  get connectionState(): ConnectionState {
    return this.#context.session.state;
  }

  get connectionState$(): Observable<ConnectionState> {
    return this.#context.session.state$;
  }

  get events$(): Observable<LockEvent> {
    return this.#context.events.asObservable();
  }

  async acquire(key: string, options: AcquireOptions = {}): Promise<LockHandle> {
    const { handle } = await this.#taker.take(key, options, this.#call(options, key));
    return handle;
  }

  async tryAcquire(key: string, options: AcquireOptions = {}): Promise<LockHandle | undefined> {
    const taken = await this.#taker.tryTake(key, options, this.#call(options, key));
    return taken?.handle;
  }

  async withLock<T>(
    key: string,
    work: (lock: LockHandle) => T | PromiseLike<T>,
    options: AcquireOptions = {},
  ): Promise<T> {
    const lock = await this.#taker.take(key, options, this.#call(options, key));
    try {
      const running = runInFrame(this.#frame([lock]), () => work(lock.handle));
      return await untilDoneOrLost(running, lock.hold, this.#context.events);
    } finally {
      // The caller need not wait for the way to the server and back.
      void lock.handle.release();
    }
  }

  async acquireAll(keys: readonly KeyWithMode[], options: AcquireAllOptions = {}): Promise<MultiLockHandle> {
    const loss = new AbortController();
    const fate = new SharedFate((error) => loss.abort(error));
    const call = { ...this.#call(options), owner: this.#owner(), end: loss.signal };
    const taken: OwnedLock[] = [];
    const ordered = canonicalOrder(keys, options.mode ?? 'exclusive');
    for (const { key, mode } of ordered) this.#taker.request(key, { ...options, mode });
    try {
      for (const { key, mode } of ordered) {
        const lock = await this.#taker.take(key, { ...options, mode }, call);
        taken.push(lock);
        fate.join(lock.hold);
      }
      const locks = new HeldLocks(taken);
      locks.assertHeld();
      return locks;
    } catch (error) {
      const released = giveBack(taken, this.#context.uplink);
      if (!isInterruption(error)) await this.#atMost(call.deadline.remainingMs(), released);
      throw error;
    } finally {
      fate.part();
    }
  }

  async transaction<T>(work: (tx: LockTransaction) => T | PromiseLike<T>): Promise<T> {
    const { deadline } = this.#call();
    for (;;) {
      try {
        return await this.#runTransaction(work, deadline);
      } catch (error) {
        if (!(error instanceof DeadlockError) || deadline.hasPassed()) throw error;
      }
      const pauseMs = this.#context.settings.random() * Math.min(MAX_TRANSACTION_PAUSE_MS, deadline.remainingMs());
      await this.#pause(pauseMs);
    }
  }

  async inspect(key: string): Promise<LockSnapshot> {
    const { queuePath } = this.#taker.request(key, {});
    return this.#taker.interruptibly(key, this.#call(), undefined, (interrupt) =>
      inspectKey(this.#context, key, queuePath, interrupt),
    );
  }

  watch(key: string): Observable<LockSnapshot> {
    const { queuePath } = this.#taker.request(key, {});
    return watchKey(this.#context, queuePath, () => this.inspect(key));
  }

  /** From now on every new request and everybody who waits is told that the service is closing; holders go on. */
  refuseNewRequests(): void {
    this.#taker.refuse();
    this.#local?.refuseNewRequests();
  }

  /** Gives holders `graceMs` to finish, and takes the locks of those that do not. The session goes on until `close`. */
  endHolders(graceMs: number): Promise<void> {
    this.#holdersEnded ??= this.#endHolders(graceMs);
    return this.#holdersEnded;
  }

  /**
   * Gives holders `graceMs` to finish, takes the locks of those that do not, and ends the session. A grace that
   * `endHolders` began counts.
   * @default the module's `shutdownGraceMs`
   */
  async close(graceMs = this.#context.settings.shutdownGraceMs): Promise<void> {
    checkGraceMs(graceMs);
    this.#closed ??= this.#close(graceMs);
    await this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @internal */
  override [sessionAccess](): SessionAccess {
    const { session, settings } = this.#context;
    return { session, namespace: settings.namespace, waitMs: settings.waitMs };
  }

  async #close(graceMs: number): Promise<void> {
    const { holders, session, janitor, alarms, events } = this.#context;
    await this.endHolders(graceMs);
    for (const hold of holders.all) hold.lose('closed');
    // Ending the session removes whatever is left of it, so a cut link is no reason to wait.
    if (this.#context.uplink.isUp) await this.#atMost(CLOSE_WITHIN_MS, janitor.idle());
    await session.close(CLOSE_WITHIN_MS);
    await this.#local?.close(0);
    alarms.rest();
    events.complete();
  }

  async #endHolders(graceMs: number): Promise<void> {
    const { holders } = this.#context;
    this.refuseNewRequests();
    const ofThisProcess = this.#local?.endHolders(graceMs);
    if (!holders.isEmpty) await this.#atMost(graceMs, holders.whenEmpty());
    for (const hold of holders.all) hold.lose('closed');
    await ofThisProcess;
  }

  async #runTransaction<T>(work: (tx: LockTransaction) => T | PromiseLike<T>, deadline: Deadline): Promise<T> {
    const locks: OwnedLock[] = [];
    const frame = this.#frame(locks);
    const tx = new GrowingTransaction(
      locks,
      deadline,
      (key, mode, waitMs, end) => {
        const call = { service: this, deadline: Deadline.after(this.#context.clock, waitMs), owner: frame.owner, end };
        return this.#taker.take(key, { mode }, call);
      },
      this.#context.settings.random,
    );
    try {
      const result = await runInFrame(frame, () => work(tx));
      tx.signal.throwIfAborted();
      for (const { handle } of locks) handle.assertHeld();
      return result;
    } finally {
      tx.end();
      const released = giveBack(locks, this.#context.uplink);
      if (!tx.signal.aborted) await released;
    }
  }

  /** The deadline is the first thing that is made of the options: they are checked here, before anything is done with them. */
  #call(options: AcquireOptions = {}, key?: string): CallFacts {
    checkAcquireOptions(options, key);
    const { clock, settings } = this.#context;
    return { service: this, deadline: Deadline.after(clock, answerWithinMs(options.waitMs || settings.waitMs)) };
  }

  #frame(locks: OwnedLock[]): OwnerFrame {
    return { service: this, owner: this.#owner(), locks, parent: currentFrame(), isClosed: false };
  }

  #owner(): string {
    return currentFrame()?.owner ?? this.#context.identifiers.next();
  }

  #pause(durationMs: number): Promise<void> {
    const { alarms, clock } = this.#context;
    return new Promise((resolve) => alarms.set(clock.now() + durationMs, resolve));
  }

  /** Resolves with the promise, or when the time is up. */
  #atMost(durationMs: number, promise: Promise<unknown>): Promise<void> {
    const { alarms, clock } = this.#context;
    return new Promise((resolve, reject) => {
      const alarm = alarms.set(clock.now() + durationMs, resolve);
      promise.then(() => resolve(), reject).finally(() => alarm.cancel());
    });
  }
}

/** What ended the wait before its time: the caller wants to hear of it now, and to wait for nothing else. */
function isInterruption(error: unknown): boolean {
  return error instanceof LockAbortedError || error instanceof LockLostError || error instanceof LockClosedError;
}
