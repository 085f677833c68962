import type { BeforeApplicationShutdown, OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { defer, type Observable, ReplaySubject, Subject, take, takeUntil } from 'rxjs';
import {
  type AcquireAllOptions,
  type KeyWithMode,
  LockService,
  type LockServiceBeside,
  type LockTransaction,
  openBeside,
  type SessionAccess,
  sessionAccess,
} from '../engine/lock-service.js';
import type { AcquireOptions } from '../lock/acquire-options.js';
import { LockClosedError, LockConfigurationError, LockUnavailableError } from '../lock/errors.js';
import type { LockEvent } from '../lock/events.js';
import type { LockHandle, MultiLockHandle } from '../lock/handle.js';
import { outsideCalls } from '../lock/outside-calls.js';
import { type ProcessLocks, processLocks } from '../lock/process-locks.js';
import type { LockSnapshot } from '../lock/snapshot.js';
import { type OpenedLockService, openLockService, whenUp } from '../open.js';
import type { ResolvedOptions } from '../options.js';
import { ConnectionMonitor } from './connection-monitor.js';
import { liveLockServices } from './locked/service-slot.js';
import { logFailedStart, logLockError } from './log-lock-error.js';

/**
 * The lock service as Nest keeps it: opened when the application starts, or by the first lock that is asked for (another
 * module's `onModuleInit` may come before ours), and closed with it.
 */
export class ManagedLockService
  extends LockService
  implements OnModuleInit, BeforeApplicationShutdown, OnApplicationShutdown
{
  #state: LockService['connectionState'] = 'connecting';
  /** Tells the current state, and goes on when the streams for the application have ended. @internal */
  readonly states$ = new ReplaySubject<LockService['connectionState']>(1);
  readonly #events = new Subject<LockEvent>();
  /** Whether the application called its hooks, or asked for a lock. @internal */
  hasStarted = false;
  /** Ends the streams for the application that have no end of their own. */
  readonly #endOfStreams = new ReplaySubject<void>(1);
  readonly #monitor: ConnectionMonitor;
  #opened: OpenedLockService | undefined;
  #isClosing = false;

  constructor(
    readonly name: string,
    readonly options: ResolvedOptions,
    /** All connections of the application, this one included: its start fails with the first that does. */
    private readonly connections: () => readonly unknown[] = () => [],
  ) {
    super();
    this.#monitor = new ConnectionMonitor(name, options);
    this.#setState('connecting');
    liveLockServices.add(this);
  }

  get sessionId(): string | undefined {
    return this.#opened?.service.sessionId;
  }

  get connectionState(): LockService['connectionState'] {
    return this.#state;
  }

  get connectionState$(): Observable<LockService['connectionState']> {
    return defer(() => this.states$.pipe(this.#isClosing ? take(1) : takeUntil(this.#endOfStreams)));
  }

  get events$(): Observable<LockEvent> {
    return this.#events.asObservable();
  }

  async acquire(key: string, options?: AcquireOptions): Promise<LockHandle> {
    return this.#tellingMisuse(({ service }) => service.acquire(key, options));
  }

  async tryAcquire(key: string, options?: AcquireOptions): Promise<LockHandle | undefined> {
    return this.#tellingMisuse(({ service }) => service.tryAcquire(key, options));
  }

  async withLock<T>(key: string, work: (lock: LockHandle) => T | PromiseLike<T>, options?: AcquireOptions): Promise<T> {
    return this.#tellingMisuse(({ service }) => service.withLock(key, work, options));
  }

  async acquireAll(keys: readonly KeyWithMode[], options?: AcquireAllOptions): Promise<MultiLockHandle> {
    return this.#tellingMisuse(({ service }) => service.acquireAll(keys, options));
  }

  async transaction<T>(work: (tx: LockTransaction) => T | PromiseLike<T>, ...more: never[]): Promise<T> {
    return this.#tellingMisuse(({ service }) => service.transaction(work, ...more));
  }

  async inspect(key: string): Promise<LockSnapshot> {
    return this.#tellingMisuse(({ service }) => service.inspect(key));
  }

  watch(key: string): Observable<LockSnapshot> {
    return this.#open().service.watch(key).pipe(takeUntil(this.#endOfStreams));
  }

  query(): ProcessLocks {
    return this.#opened?.service.query() ?? processLocks({ held: [], pending: [], removals: 0, certainMs: 0 });
  }

  /** @internal */
  override [sessionAccess](): SessionAccess {
    return this.#open().service[sessionAccess]();
  }

  /** @internal */
  override async [openBeside](): Promise<LockServiceBeside> {
    const { service, session } = outsideCalls(() => this.openService(overWire(this.options)));
    try {
      await whenUp(session, this.options.connectTimeoutMs);
      return service;
    } catch (error) {
      await service.close(0);
      throw error;
    }
  }

  /** @throws LockUnavailableError where `startup` is `eager` and no ZooKeeper answers in time */
  async onModuleInit(): Promise<void> {
    this.hasStarted = true;
    this.judgeOptions();
    if (this.options.startup === 'lazy') return;
    try {
      await this.#start();
    } catch (error) {
      if (this.options.whenUnavailable === 'local' && error instanceof LockUnavailableError) {
        this.#monitor.startedWithoutZooKeeper(error);
        return;
      }
      await this.abandonStart();
      throw logFailedStart(this.#startFailure(error));
    }
  }

  protected judgeOptions(): void {
    this.#monitor.judgeOptions();
  }

  /**
   * The servers of the application still answer: calls that wait for a lock are told to go elsewhere, and holders have the
   * grace to finish.
   */
  beforeApplicationShutdown(): void {
    this.#isClosing = true;
    // An open response may be a stream of states or snapshots, which has no end of its own: it ends now. The stream of events
    // tells of the holders first.
    this.#endOfStreams.next();
    // Nobody waits for it here. Next, Nest closes the servers, which wait for every open response, and the response of a
    // stream under a lock may end with the lock alone.
    void this.#endHolders();
  }

  async #endHolders(): Promise<void> {
    await this.#opened?.service.endHolders(this.options.shutdownGraceMs);
    this.#events.complete();
  }

  /** The servers of the application are closed by now, so all answers have been given. The rest of the grace passes, then all ends. */
  async onApplicationShutdown(): Promise<void> {
    await this.close(this.options.shutdownGraceMs);
  }

  #startFailure(error: unknown): unknown {
    if (!(error instanceof LockUnavailableError)) return error;
    return new LockUnavailableError(
      `DistributedLockModule '${this.name}' could not connect to ${this.options.connect}, so the application does not ` +
        `start. ${error.details}. Is ZooKeeper running there? With startup: 'lazy' the first lock connects instead`,
      undefined,
      { cause: error },
    );
  }

  async #start(): Promise<void> {
    const opened = this.#open();
    const end = this.#monitor.startWaits(opened);
    try {
      await whenUp(opened.session, this.options.connectTimeoutMs);
    } finally {
      end();
    }
  }

  async #tellingMisuse<T>(call: (opened: OpenedLockService) => Promise<T>): Promise<T> {
    try {
      return await call(this.#open());
    } catch (error) {
      // Nest does not log an error that it answers with, and the answer does not say what is misused.
      if (error instanceof LockConfigurationError) logLockError(error);
      throw error;
    }
  }

  #open(): OpenedLockService {
    if (this.#opened !== undefined) return this.#opened;
    if (this.#isClosing) throw new LockClosedError('The lock service is closed: the application has shut down');
    // The session outlives the call that happens to be the first, and must keep nothing of its async context.
    return outsideCalls(() => this.#openNow());
  }

  protected openService(options = this.options): OpenedLockService {
    return openLockService(options, undefined, this.name);
  }

  #openNow(): OpenedLockService {
    const opened = this.openService();
    this.#opened = opened;
    this.hasStarted = true;
    opened.service.connectionState$.subscribe((state) => this.#setState(state));
    opened.service.events$.subscribe(this.#events);
    this.#monitor.watch(opened);
    return opened;
  }

  /** Closes all connections: Nest runs no hooks of an application that fails to start, and they would keep the process alive. */
  async abandonStart(): Promise<void> {
    const others = this.connections().filter((one) => one instanceof ManagedLockService);
    await Promise.all([this.close(0), ...others.map((one) => one.close(0))]);
  }

  /** @internal */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    await this.#opened?.service.close(graceMs);
    this.#monitor.stop();
    if (this.#state !== 'closed') this.#setState('closed');
    this.states$.complete();
    this.#events.complete();
    liveLockServices.delete(this);
  }

  #setState(state: LockService['connectionState']): void {
    this.#state = state;
    this.states$.next(state);
  }
}

/**
 * The same options for this package's own client, which can do what `client: 'native'` cannot.
 */
function overWire(options: ResolvedOptions): ResolvedOptions {
  // A copy by members would lose the credentials, which are not enumerable.
  const members = Object.getOwnPropertyDescriptors(options);
  return Object.defineProperties({} as ResolvedOptions, { ...members, client: { value: 'wire', enumerable: true } });
}
