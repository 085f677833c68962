import type { Observable } from 'rxjs';
import { type AcquireOptions, checkAcquireOptions, checkGraceMs } from '../lock/acquire-options.js';
import { checkFunction } from '../lock/option-rules.js';
import { answerWithinMs, Deadline } from '../lock/deadline.js';
import { LockConfigurationError } from '../lock/errors.js';
import type { LockEvent } from '../lock/events.js';
import type { LockHandle, MultiLockHandle } from '../lock/handle.js';
import { type ProcessLocks, processLocks } from '../lock/process-locks.js';
import { shown } from '../lock/shown.js';
import type { LockSnapshot } from '../lock/snapshot.js';
import { writerState } from '../queue/decide.js';
import type { ConnectionState } from '../session/connection-state.js';
import { sessionIdText } from '../session/session-id.js';
import type { Session } from '../session/session.js';
import type { Call, AcquiredLock } from './acquire/lock-calls.js';
import { Busy } from './acquire/obstacles.js';
import { callerOf, frameFor, LockEvents, runInFrame } from './bounds/owner-context.js';
import { buildEngine, type Engine, type EngineSettings, type SharedParts } from './build-engine.js';
import { releaseBehind, untilDoneOrLost } from './hold/held-lock.js';
import { type Freshness, inspectKey, watchKey } from './insight/inspect.js';
import { queryLocks } from './insight/query.js';
import {
  type AcquireAllOptions,
  type KeyWithMode,
  LockService,
  type SessionAccess,
  sessionAccess,
} from './lock-service.js';
import { LocalExclusion } from './policy/entry.js';
import { acquireAll } from './several/acquire-all.js';
import { runTransaction, type TransactionWork } from './several/transaction.js';

const WITH_LOCK = 'withLock(key, async (lock) => { ... }, options), with the options last';
/** How long ending the session may take. After that the servers end it by its time-out. */
const CLOSE_WITHIN_MS = 1_000;

/** The lock service over a session. `local` makes the one of this process alone, which stands in while ZooKeeper is away. */
export class ZookeeperLockService extends LockService implements AsyncDisposable {
  readonly #engine: Engine;
  readonly #settings: EngineSettings;
  readonly #standIn: ZookeeperLockService | undefined;
  #holdersEnded: Promise<void> | undefined;
  #closed: Promise<void> | undefined;
  #graceEndsAt = -Infinity;

  constructor(
    session: Session,
    settings: EngineSettings,
    local?: (shared: SharedParts) => ZookeeperLockService,
    shared: SharedParts = {
      events: new LockEvents(),
      exclusion: local === undefined ? undefined : new LocalExclusion(),
    },
  ) {
    super();
    this.#settings = settings;
    this.#standIn = local?.(shared);
    this.#engine = buildEngine(
      session,
      settings,
      shared,
      this.#standIn === undefined ? undefined : this.#standIn.#engine.lockCalls,
    );
  }

  get sessionId(): string | undefined {
    const { identity } = this.#engine.session;
    return identity === undefined ? undefined : sessionIdText(identity.id);
  }

  get connectionState(): ConnectionState {
    return this.#engine.session.state;
  }

  get connectionState$(): Observable<ConnectionState> {
    return this.#engine.session.state$;
  }

  get events$(): Observable<LockEvent> {
    return this.#engine.events.asObservable();
  }

  async acquire(key: string, options: AcquireOptions = {}): Promise<LockHandle> {
    return lastLook(await this.#engine.lockCalls.acquire(key, options, this.#call(options, key)));
  }

  async tryAcquire(key: string, options: AcquireOptions = {}): Promise<LockHandle | undefined> {
    const acquired = await this.#engine.lockCalls.tryAcquire(key, options, this.#call(options, key, 0));
    return acquired instanceof Busy ? undefined : lastLook(acquired);
  }

  async withLock<T>(
    key: string,
    work: (lock: LockHandle) => T | PromiseLike<T>,
    options: AcquireOptions = {},
  ): Promise<T> {
    checkFunction('work', work, WITH_LOCK, key);
    const lock = await this.#engine.lockCalls.acquire(key, options, this.#call(options, key));
    let running: Promise<T> | undefined;
    try {
      const held = lastLook(lock);
      running = runInFrame(frameFor(this, lock.hold.request.owner, [lock]), () => work(held));
      return await untilDoneOrLost(running, lock.hold, this.#engine.events);
    } finally {
      // The caller waits until the removal has left the process, which may end now, and not for the servers' answer.
      void releaseBehind(running, lock);
      await this.#engine.janitor.removalsSent();
    }
  }

  async acquireAll(keys: readonly KeyWithMode[], options: AcquireAllOptions = {}): Promise<MultiLockHandle> {
    const call = { ...this.#call(options), owner: callerOf(this.#engine.identifiers) };
    return acquireAll(this.#engine, keys, options, call);
  }

  async transaction<T>(work: TransactionWork<T>, ...more: never[]): Promise<T> {
    checkTransactionCall(work, more, this.#settings.waitMs);
    return runTransaction(this.#engine, work, this.#call());
  }

  inspect(key: string): Promise<LockSnapshot> {
    return this.#look(key, 'behind a write');
  }

  watch(key: string): Observable<LockSnapshot> {
    const queuePath = this.#engine.lockCalls.check(key, {});
    return watchKey(this.#engine, queuePath, () => this.#look(key, 'behind a sync'));
  }

  query(): ProcessLocks {
    const { held, pending, ...numbers } = queryLocks(this.#engine, this.#settings.scope);
    const { held: heldAlone = [], pending: pendingAlone = [] } = this.#standIn?.query() ?? {};
    return processLocks({ held: [...held, ...heldAlone], pending: [...pending, ...pendingAlone], ...numbers });
  }

  async #look(key: string, freshness: Freshness): Promise<LockSnapshot> {
    const { lockCalls, scopes } = this.#engine;
    const queuePath = lockCalls.check(key, {});
    const call = this.#call();
    await lockCalls.firstConnection(key, {}, call);
    return scopes.run(key, call.deadline, {}, (scope) =>
      inspectKey(this.#engine, { key, queuePath }, scope, freshness),
    );
  }

  /** Refuses new requests from now on, and ends the calls that wait: the service is closing. Holders go on. */
  refuseNewRequests(): void {
    this.#engine.lockCalls.refuse();
    this.#standIn?.refuseNewRequests();
  }

  /** Gives holders `graceMs` to finish, and ends the locks of those that do not. The session goes on until `close`. */
  endHolders(graceMs: number): Promise<void> {
    this.#holdersEnded ??= this.#endHolders(graceMs);
    return this.#holdersEnded;
  }

  /**
   * Gives holders `graceMs` to finish, ends the locks of those that do not, and ends the session. A grace that
   * `endHolders` began counts.
   * @default the module's `shutdownGraceMs`
   */
  async close(graceMs = this.#settings.shutdownGraceMs): Promise<void> {
    checkGraceMs(graceMs);
    this.#closed ??= this.#close(graceMs);
    await this.#closed;
  }

  async #endHolders(graceMs: number): Promise<void> {
    const { holders, brokenHolds, timers, scopes, clock } = this.#engine;
    this.#graceEndsAt = clock.now() + graceMs;
    this.refuseNewRequests();
    const ofThisProcess = this.#standIn?.endHolders(graceMs);
    // The calls that wait have been ended, which takes a few turns of promises. One of them may turn out to hold, and others
    // leave nodes to remove (with a lock-delay also a name in a record, which outlives the session).
    if (!scopes.isEmpty) await timers.atMost(CLOSE_WITHIN_MS, scopes.whenEmpty());
    const areHeld = !holders.isEmpty || !brokenHolds.isEmpty;
    if (areHeld) await timers.atMost(graceMs, Promise.all([holders.whenEmpty(), brokenHolds.whenEmpty()]));
    for (const hold of holders.all()) hold.lose('closed');
    brokenHolds.endAll();
    await ofThisProcess;
  }

  async #close(graceMs: number): Promise<void> {
    const { holders, brokenHolds, session, janitor, timers, events, link, writer } = this.#engine;
    await this.endHolders(graceMs);
    // A call that was slow to end may have entered since.
    for (const hold of holders.all()) hold.lose('closed');
    brokenHolds.endAll();
    // Locks that were released while the link was down still have nodes. If the link comes back within the grace, the next
    // holders can enter; otherwise they wait for the end of the session.
    const leftMs = this.#graceEndsAt - session.clock.now();
    const awaitsLink = !janitor.isIdle && leftMs > 0 && session.state === 'suspended';
    if (awaitsLink) await timers.atMost(leftMs, link.nextChange());
    // The end of the session removes its nodes anyway, so a cut link is no reason to wait any longer.
    if (link.isUp) {
      const written = timers.atMost(CLOSE_WITHIN_MS, Promise.resolve(writer?.close()));
      await Promise.all([written, janitor.idleOrStuck(CLOSE_WITHIN_MS)]);
    }
    await session.close(CLOSE_WITHIN_MS);
    await this.#standIn?.close(0);
    timers.rest();
    events.complete();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @internal */
  override [sessionAccess](): SessionAccess {
    const { namespace, waitMs } = this.#settings;
    const queuePathOf = (key: string): string => this.#engine.lockCalls.check(key, {});
    return { session: this.#engine.session, namespace, waitMs, queuePathOf, writerState };
  }

  /** Checks the options, and makes the deadline of the call, before anything else is done with them. */
  #call(options: AcquireOptions = {}, key?: string, usualMs = this.#settings.waitMs): Call {
    checkAcquireOptions(options, key);
    const { waitMs = usualMs } = options;
    return { service: this, deadline: Deadline.after(this.#engine.clock, answerWithinMs(waitMs)) };
  }
}

function lastLook({ hold, handle }: AcquiredLock): LockHandle {
  // Turns of promises lie between the begin of the hold and its caller, in which other code may have blocked the event loop.
  const loss = hold.lossError();
  if (loss === undefined) return handle;
  // The caller gets no handle that it could release.
  void handle.release();
  throw loss;
}

/**
 * Checks the arguments of `transaction`, which JavaScript may call with options that nobody would read.
 * @throws LockConfigurationError for anything but a function alone
 */
function checkTransactionCall(work: unknown, more: readonly unknown[], waitMs: number): void {
  const hasMore = more.some((argument) => argument !== undefined);
  if (typeof work === 'function' && !hasMore) return;
  const misuse = hasMore
    ? 'transaction(work) takes only its work, and no options'
    : `transaction(work): work must be a function of the transaction, not ${shown(work)}`;
  throw new LockConfigurationError(
    `${misuse}. All its waits together may take the waitMs of the lock service, ${waitMs} ms. Write ` +
      'transaction(async (tx) => { ... }), and set waitMs in forRoot or createLockService; if one transaction needs another ' +
      'waitMs, make a second lock service that has it',
  );
}
