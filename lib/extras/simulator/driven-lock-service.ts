import type { Observable } from 'rxjs';
import {
  type AcquireAllOptions,
  type KeyWithMode,
  LockService,
  type LockTransaction,
  type SessionAccess,
  sessionAccess,
} from '../../engine/lock-service.js';
import type { AcquireOptions } from '../../lock/acquire-options.js';
import type { LockEvent } from '../../lock/events.js';
import type { LockHandle, MultiLockHandle } from '../../lock/handle.js';
import type { ProcessLocks } from '../../lock/process-locks.js';
import type { LockSnapshot } from '../../lock/snapshot.js';
import type { openLockService } from '../../open.js';
import type { ConnectionState } from '../../session/connection-state.js';
import { drivenHandle } from './driven-handle.js';

/** Throws where nothing can be asked of a client now, and says why. */
export type CheckCall = (what: string) => void;

type OpenedLockService = ReturnType<typeof openLockService>['service'];

/**
 * A lock service that refuses calls that would wait for ever because simulated time stands still or the process is
 * gone.
 */
export class DrivenLockService extends LockService implements AsyncDisposable {
  readonly #locks: OpenedLockService;
  readonly #check: CheckCall;

  constructor(locks: OpenedLockService, check: CheckCall) {
    super();
    this.#locks = locks;
    this.#check = check;
  }

  get sessionId(): string | undefined {
    return this.#locks.sessionId;
  }

  get connectionState(): ConnectionState {
    return this.#locks.connectionState;
  }

  get connectionState$(): Observable<ConnectionState> {
    return this.#locks.connectionState$;
  }

  get events$(): Observable<LockEvent> {
    return this.#locks.events$;
  }

  async acquire(key: string, options?: AcquireOptions): Promise<LockHandle> {
    this.#check('acquire');
    return drivenHandle(await this.#locks.acquire(key, options), this.#check);
  }

  async tryAcquire(key: string, options?: AcquireOptions): Promise<LockHandle | undefined> {
    this.#check('tryAcquire');
    const handle = await this.#locks.tryAcquire(key, options);
    return handle === undefined ? undefined : drivenHandle(handle, this.#check);
  }

  async withLock<T>(key: string, work: (lock: LockHandle) => T | PromiseLike<T>, options?: AcquireOptions): Promise<T> {
    this.#check('withLock');
    return this.#locks.withLock(key, work, options);
  }

  async acquireAll(keys: readonly KeyWithMode[], options?: AcquireAllOptions): Promise<MultiLockHandle> {
    this.#check('acquireAll');
    return drivenHandle(await this.#locks.acquireAll(keys, options), this.#check);
  }

  async transaction<T>(work: (tx: LockTransaction) => T | PromiseLike<T>, ...more: never[]): Promise<T> {
    this.#check('transaction');
    return this.#locks.transaction(work, ...more);
  }

  async inspect(key: string): Promise<LockSnapshot> {
    this.#check('inspect');
    return this.#locks.inspect(key);
  }

  watch(key: string): Observable<LockSnapshot> {
    return this.#locks.watch(key);
  }

  query(): ProcessLocks {
    return this.#locks.query();
  }

  async close(graceMs?: number): Promise<void> {
    this.#check('close');
    await this.#locks.close(graceMs);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @internal */
  override [sessionAccess](): SessionAccess {
    return this.#locks[sessionAccess]();
  }
}
