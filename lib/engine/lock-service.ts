import type { Observable } from 'rxjs';
import type { AcquireOptions } from '../lock/acquire-options.js';
import { LockConfigurationError } from '../lock/errors.js';
import type { LockEvent } from '../lock/events.js';
import type { LockHandle, MultiLockHandle } from '../lock/handle.js';
import type { LockMode } from '../lock/mode.js';
import type { ProcessLocks } from '../lock/process-locks.js';
import type { LockSnapshot } from '../lock/snapshot.js';
import type { ConnectionState } from '../session/connection-state.js';
import type { Session } from '../session/session.js';
import type { WriterState } from '../queue/decide.js';

/** What a transaction acquires, one lock after the other; all are released together when it ends. */
export interface LockTransaction {
  /** Waits for the lock, and keeps it until the transaction ends. A key that it holds already is not acquired again. */
  lock(key: string, mode?: LockMode): Promise<LockHandle>;
  /** Aborts when any of its locks is lost. */
  readonly signal: AbortSignal;
}

export type KeyWithMode = string | { readonly key: string; readonly mode: LockMode };

/**
 * How an extra that keeps something in ZooKeeper itself sends it over the connection of the locks.
 * @internal
 */
export const sessionAccess: unique symbol = Symbol('nestjs-zookeeper-lock: session access');

/** @internal */
export interface SessionAccess {
  readonly session: Session;
  /** '' or the absolute path in front of every key. */
  readonly namespace: string;
  /** The lock service's bound on any wait. */
  readonly waitMs: number;
  /**
   * Where the contenders of a key queue.
   * @throws InvalidLockKeyError for what is no key
   */
  readonly queuePathOf: (key: string) => string;
  /** Says of one child of a key whether it holds as a writer, by the names of all. */
  readonly writerState: (names: readonly string[], name: string) => WriterState;
}

/**
 * How an extra gets a session of its own with the options of a lock service, so that nothing it does stands in front of the requests
 * of its locks.
 * @internal
 */
export const openBeside: unique symbol = Symbol('nestjs-zookeeper-lock: a session beside this one');

/** @internal */
export interface LockServiceBeside extends LockService {
  close(graceMs?: number): Promise<void>;
}

/** Options of `acquireAll`; `mode` is for keys that name none. */
export type AcquireAllOptions = Omit<AcquireOptions, 'reentrant'>;

/**
 * Locks over one connection. The class is the injection token; `createLockService` gives one without Nest.
 *
 * Every promise settles by its deadline, connected or not. What is thrown is a `LockError`; its `code` says whether the
 * lock was busy, ZooKeeper away, the call wrong, or the lock lost.
 */
export abstract class LockService {
  static {
    // Nest fails before any code of ours runs where nobody provides what a class injects, and prints nothing of it but its name.
    const name =
      'LockService (provided by DistributedLockModule.forRoot(...), in a test by ...provideLockTesting() from ' +
      'nestjs-zookeeper-lock/testing)';
    Object.defineProperty(this, 'name', { value: name, configurable: true });
  }

  /**
   * Waits for the lock. Release the handle, or use `await using`.
   * @throws LockTimeoutError when it is busy for `waitMs`, LockUnavailableError when ZooKeeper is away for as long
   */
  abstract acquire(key: string, options?: AcquireOptions): Promise<LockHandle>;
  /**
   * Acquires the lock if nobody is in the way; undefined when somebody is. A busy key costs no write.
   * @throws LockUnavailableError while there is no connection, or when no answer comes within a second (or `waitMs`)
   */
  abstract tryAcquire(key: string, options?: AcquireOptions): Promise<LockHandle | undefined>;
  /**
   * Runs `work` while the lock is held. Calls inside it for the same key share the lock. Rejects as soon as the lock is
   * lost, whatever `work` still does: it should stop at `lock.signal`.
   */
  abstract withLock<T>(
    key: string,
    work: (lock: LockHandle) => T | PromiseLike<T>,
    options?: AcquireOptions,
  ): Promise<T>;
  /**
   * All of the locks or none, in one order for all callers, so that callers of this cannot deadlock each other. `waitMs` is
   * for all of them together.
   * @throws LockTimeoutError, LockUnavailableError as `acquire` does; then none is held
   */
  abstract acquireAll(keys: readonly KeyWithMode[], options?: AcquireAllOptions): Promise<MultiLockHandle>;
  /**
   * Strict two-phase locking over keys that are chosen as it goes. When its locks and those of others wait for each
   * other, it releases all and `work` runs again from the start: it must be safe to repeat up to that point.
   */
  abstract transaction<T>(work: (tx: LockTransaction) => T | PromiseLike<T>): Promise<T>;
  /**
   * Who holds, who waits: a strong read. The list is behind a write of the session's own (which changes nothing), so a server
   * that was cut off does not answer it. It costs a majority's write: to follow a key, `watch` it.
   */
  abstract inspect(key: string): Promise<LockSnapshot>;
  /**
   * Snapshots as they change; a hint, never the truth: a server that was cut off may go on showing what was. Unsubscribing
   * takes back its watches. Completes when the service closes; in a Nest application when that begins to shut down.
   */
  abstract watch(key: string): Observable<LockSnapshot>;

  /**
   * What this process holds and waits for through this lock service, at this moment. It asks no server, so it costs
   * nothing, and knows of no other process: `inspect` does.
   */
  abstract query(): ProcessLocks;

  /** The session as ZooKeeper's logs name it, `0x...`; undefined while there is none. For people and logs: it is no credential. */
  abstract readonly sessionId: string | undefined;
  /** Whether there is a session, and whether its link is up: `isUp(state)`. */
  abstract readonly connectionState: ConnectionState;
  /**
   * The connection's state, the current one at once and each that follows. Completes when the service is closed; in a Nest
   * application when that begins to shut down; who comes later is told the state of that moment, and the end.
   */
  abstract readonly connectionState$: Observable<ConnectionState>;
  /**
   * What happens to the locks of this process, as it happens: acquired, released, lost, failed. For metrics and logs. Completes
   * when the service is closed; in a Nest application when the last holder is done, or its grace is over.
   */
  abstract readonly events$: Observable<LockEvent>;

  /** @internal */
  [sessionAccess](): SessionAccess {
    throw new LockConfigurationError(
      'This lock service has no connection to ZooKeeper: it was not made by this package',
    );
  }

  /** The caller closes what it gets. @internal */
  [openBeside](): Promise<LockServiceBeside> {
    throw new LockConfigurationError(
      'This lock service is not one of DistributedLockModule, which alone knows its options',
    );
  }
}
