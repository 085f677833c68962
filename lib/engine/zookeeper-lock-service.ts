import type { Observable } from 'rxjs';
import { type AcquireOptions, checkAcquireOptions, checkGraceMs } from '../lock/acquire-options.js';
import { checkFunction } from '../lock/check-function.js';
import { answerWithinMs, Deadline } from '../lock/deadline.js';
import type { LockEvent } from '../lock/events.js';
import type { LockHandle, MultiLockHandle } from '../lock/handle.js';
import type { LockSnapshot } from '../lock/snapshot.js';
import type { ConnectionState } from '../session/connection-state.js';
import type { Session } from '../session/session.js';
import { sessionIdText } from '../session/session-id.js';
import { acquireAll } from './acquire-all.js';
import { buildContext } from './build-context.js';
import type { EngineContext, EngineSettings, SharedParts } from './context.js';
import { Doorway } from './doorway.js';
import { type Freshness, inspectKey } from './inspect.js';
import {
  type AcquireAllOptions,
  type KeyWithMode,
  LockService,
  type SessionAccess,
  sessionAccess,
} from './lock-service.js';
import { LockEvents } from './lock-events.js';
import { type CallFacts, LockTaker } from './lock-taker.js';
import { callerOf, frameFor, type OwnedLock, runInFrame } from './owner-context.js';
import { runTransaction, type TransactionWork } from './run-transaction.js';
import { Shutdown } from './shutdown.js';
import { checkTransactionCall } from './transaction-call.js';
import { untilDoneOrLost } from './until-done-or-lost.js';
import { watchKey } from './watch-key.js';
import { writerStanding } from './writer-standing.js';

const WITH_LOCK = 'withLock(key, async (lock) => { ... }, options), with the options last';

/** The lock service over a session; `local` gives out locks of this process when ZooKeeper is not to be had. */
export class ZookeeperLockService extends LockService implements AsyncDisposable {
  readonly #context: EngineContext;
  readonly #taker: LockTaker;
  readonly #shutdown: Shutdown;

  constructor(
    session: Session,
    settings: EngineSettings,
    local?: (shared: SharedParts) => ZookeeperLockService,
    shared: SharedParts = { events: new LockEvents(), doorway: local === undefined ? undefined : new Doorway() },
  ) {
    super();
    this.#context = buildContext(session, settings, shared);
    const standIn = local?.(shared);
    this.#taker = new LockTaker(this.#context, standIn === undefined ? undefined : standIn.#taker);
    this.#shutdown = new Shutdown(this.#context, this.#taker, standIn === undefined ? undefined : standIn.#shutdown);
  }

  get sessionId(): string | undefined {
    const { identity } = this.#context.session;
    return identity === undefined ? undefined : sessionIdText(identity.id);
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
    return lastLook(await this.#taker.take(key, options, this.#call(options, key)));
  }

  async tryAcquire(key: string, options: AcquireOptions = {}): Promise<LockHandle | undefined> {
    const taken = await this.#taker.tryTake(key, options, this.#call(options, key, 0));
    return taken === undefined ? undefined : lastLook(taken);
  }

  async withLock<T>(
    key: string,
    work: (lock: LockHandle) => T | PromiseLike<T>,
    options: AcquireOptions = {},
  ): Promise<T> {
    checkFunction('work', work, WITH_LOCK, key);
    const lock = await this.#taker.take(key, options, this.#call(options, key));
    try {
      const held = lastLook(lock);
      const running = runInFrame(frameFor(this, this.#context.identifiers, [lock]), () => work(held));
      return await untilDoneOrLost(running, lock.hold, this.#context.events);
    } finally {
      // The caller need not wait for the way to the server and back, only for what it must not take with it.
      void lock.handle.release();
      await this.#context.outbox.emptied();
    }
  }

  async acquireAll(keys: readonly KeyWithMode[], options: AcquireAllOptions = {}): Promise<MultiLockHandle> {
    const call = { ...this.#call(options), owner: callerOf(this.#context.identifiers) };
    return acquireAll(this.#context, this.#taker, keys, options, call);
  }

  async transaction<T>(work: TransactionWork<T>, ...more: never[]): Promise<T> {
    checkTransactionCall(work, more, this.#context.settings.waitMs);
    return runTransaction(this.#context, this.#taker, work, this.#call());
  }

  inspect(key: string): Promise<LockSnapshot> {
    return this.#look(key, 'behind a write');
  }

  watch(key: string): Observable<LockSnapshot> {
    const { queuePath } = this.#taker.request(key, {});
    return watchKey(this.#context, queuePath, () => this.#look(key, 'behind a sync'));
  }

  async #look(key: string, freshness: Freshness): Promise<LockSnapshot> {
    const { queuePath } = this.#taker.request(key, {});
    const call = this.#call();
    await this.#taker.firstConnection(key, {}, call);
    return this.#taker.interruptibly(key, call, undefined, (interrupt) =>
      inspectKey(this.#context, key, queuePath, interrupt, freshness),
    );
  }

  /** From now on every new request and everybody who waits is told that the service is closing; holders go on. */
  refuseNewRequests(): void {
    this.#shutdown.refuseNewRequests();
  }

  /** Gives holders `graceMs` to finish, and takes the locks of those that do not. The session goes on until `close`. */
  endHolders(graceMs: number): Promise<void> {
    return this.#shutdown.endHolders(graceMs);
  }

  /**
   * Gives holders `graceMs` to finish, takes the locks of those that do not, and ends the session. A grace that
   * `endHolders` began counts.
   * @default the module's `shutdownGraceMs`
   */
  async close(graceMs = this.#context.settings.shutdownGraceMs): Promise<void> {
    checkGraceMs(graceMs);
    await this.#shutdown.close(graceMs);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @internal */
  override [sessionAccess](): SessionAccess {
    const { session, settings } = this.#context;
    return { session, namespace: settings.namespace, waitMs: settings.waitMs, standingOf: writerStanding };
  }

  /** The deadline is the first thing that is made of the options: they are checked here, before anything is done with them. */
  #call(options: AcquireOptions = {}, key?: string, usualMs = this.#context.settings.waitMs): CallFacts {
    checkAcquireOptions(options, key);
    const { waitMs = usualMs } = options;
    return { service: this, deadline: Deadline.after(this.#context.clock, answerWithinMs(waitMs)) };
  }
}

/** Between the grant and its caller lie turns of promises, in which somebody else may have blocked the event loop. */
function lastLook({ hold, handle }: OwnedLock): LockHandle {
  const loss = hold.lossError();
  if (loss !== undefined) throw loss;
  return handle;
}
