import { clearTimeout, setTimeout } from 'node:timers';
import { inspect } from 'node:util';
import type { Observable, Subscription } from 'rxjs';
import type { LockService } from '../../engine/lock-service.js';
import type { AbandonedPolicy } from '../../lock/abandoned.js';
import { LockConfigurationError } from '../../lock/errors.js';
import type { LockHandle } from '../../lock/handle.js';
import type { LockMode } from '../../lock/mode.js';
import type { LockSnapshot } from '../../lock/snapshot.js';
import { type ConnectionState, isUp } from '../../session/connection-state.js';
import { TestingLockService } from './testing-lock-service.js';

export interface BusyOptions {
  /** The mode in which the other process holds the lock. @default 'exclusive' */
  readonly mode?: LockMode;
}

export interface AbandonOptions {
  /** What the holder had asked for in case that it vanishes. @default 'enter' */
  readonly onAbandoned?: AbandonedPolicy;
  /** How far its work was. */
  readonly checkpoint?: unknown;
}

/** Shorter than a test's default time limit, so that the failure says what was waited for. */
const WITHIN_MS = 4_000;

/**
 * Controls what happens to the locks of an application under test. No method waits for time to pass: each resolves when
 * the application has been told.
 */
export class LockTesting {
  readonly #locks: TestingLockService;
  readonly #busy = new Map<string, LockHandle[]>();

  private constructor(locks: TestingLockService) {
    this.#locks = locks;
  }

  /**
   * The controls of a lock service that `DistributedLockTestingModule`, `provideLockTesting` or `overrideLocks` made.
   * @throws LockConfigurationError for any other lock service
   */
  static of(locks: LockService): LockTesting {
    if (locks instanceof TestingLockService) return new LockTesting(locks);
    throw new LockConfigurationError(
      'LockTesting: this lock service is not for tests. Have it made by DistributedLockTestingModule.forRoot(), ' +
        'provideLockTesting() or overrideLocks()',
    );
  }

  /**
   * Lets another process acquire the lock and keep it until `release`. It waits for its turn.
   * @throws LockTimeoutError when the application does not release the lock in time
   */
  async makeBusy(key: string, { mode = 'exclusive' }: BusyOptions = {}): Promise<void> {
    const others = await this.#locks.world.others();
    const handle = await others.acquire(key, { mode, label: 'LockTesting' });
    this.#busy.set(key, [...(this.#busy.get(key) ?? []), handle]);
  }

  /** Lets the other process release what `makeBusy` acquired. It does nothing where nothing was acquired. */
  async release(key: string): Promise<void> {
    const handles = this.#busy.get(key) ?? [];
    this.#busy.delete(key);
    await Promise.all(handles.map((handle) => handle.release()));
  }

  /**
   * Lets another process acquire the lock, note a checkpoint where one is given, and die inside. It waits for its turn. It
   * is for tests of `@Recover`, and of what an application does with `lock.abandoned` or a LockAbandonedError.
   * @throws LockTimeoutError when the application does not release the lock in time
   */
  async abandon(key: string, options: AbandonOptions = {}): Promise<void> {
    const { onAbandoned = 'enter', checkpoint } = options;
    const recovers = onAbandoned === 'recover' && { recover: () => undefined };
    await this.#locks.world.dying(async (locks) => {
      const lock = await locks.acquire(key, { onAbandoned, label: 'LockTesting', ...recovers });
      if (checkpoint !== undefined) await lock.checkpoint(checkpoint);
    });
  }

  /**
   * Lets the application lose this lock while it holds it. The application's session ends, and all its locks of this
   * connection with it; the application then opens another session by itself.
   * @throws Error where the application does not hold the lock
   */
  async lose(key: string): Promise<void> {
    const { holders } = await (await this.#locks.world.others()).inspect(key);
    if (!holders.some(({ sessionId }) => sessionId === this.#locks.sessionId)) {
      const who = holders.length === 0 ? 'nobody does' : 'somebody else does';
      throw new Error(
        `lose('${key}'): the application does not hold the lock, ${who}. Await untilHeld('${key}') first`,
      );
    }
    await this.endSession();
  }

  /**
   * Lets the server end the application's session, as after a long pause. While the connection is suspended the
   * application cannot know it, and is told after `resume`.
   */
  async endSession(): Promise<void> {
    // The wait begins before the fault, or the state could pass unseen.
    const isTold = isUp(this.#locks.connectionState) ? this.untilState('lost') : undefined;
    this.#locks.world.entrance.expire();
    await isTold;
  }

  /** Takes the link down until `resume`. Held locks last for most of the session time-out, and are lost after that. */
  async suspend(): Promise<void> {
    // The wait begins before the fault, or the state could pass unseen.
    const isTold = isUp(this.#locks.connectionState) ? this.untilState('suspended') : undefined;
    this.#locks.world.entrance.refuse();
    await isTold;
  }

  /** Brings the link back, with the same session where the server still has it. */
  async resume(): Promise<void> {
    this.#locks.world.entrance.accept();
    if (this.#locks.connectionState === 'connecting') return;
    await this.#until('connected again', this.#locks.connectionState$, isUp);
  }

  /** Resolves when the application is told of this state, or at once if it is in that state. */
  async untilState(state: ConnectionState, withinMs = WITHIN_MS): Promise<void> {
    await this.#until(`state ${state}`, this.#locks.states$, (current) => current === state, withinMs);
  }

  /** Resolves when a contender holds the lock. */
  untilHeld(key: string): Promise<LockSnapshot> {
    return this.#untilSnapshot(key, 'held', ({ state }) => state === 'HELD');
  }

  /** Resolves when nobody holds the lock or waits for it. A decorated method answers before its lock is released. */
  untilFree(key: string): Promise<LockSnapshot> {
    return this.#untilSnapshot(key, 'free', ({ state, queueLength }) => state === 'FREE' && queueLength === 0);
  }

  /** Resolves when this many contenders wait for the lock. @param count 1 by default */
  untilWaiting(key: string, count = 1): Promise<LockSnapshot> {
    return this.#untilSnapshot(key, `waited for by ${count}`, ({ queueLength }) => queueLength === count);
  }

  async #untilSnapshot(key: string, what: string, holds: (one: LockSnapshot) => boolean): Promise<LockSnapshot> {
    const others = await this.#locks.world.others();
    return this.#until(`${key} ${what}`, others.watch(key), holds);
  }

  #until<T>(what: string, values: Observable<T>, holds: (value: T) => boolean, withinMs = WITHIN_MS): Promise<T> {
    let last: T | undefined;
    let subscription: Subscription | undefined;
    return new Promise<T>((resolve, reject) => {
      const fail = (how: string, cause?: unknown): void =>
        reject(new Error(`${how}: ${what}. Last seen: ${inspect(last)}`, { cause }));
      const tooLate = `Not within ${withinMs} ms`;
      // RxJS's own timeout uses the global timers. A test may have faked those, and would wait for ever.
      const timer = setTimeout(() => fail(tooLate), withinMs);
      subscription = values.subscribe({
        next: (value) => {
          last = value;
          if (holds(value)) resolve(value);
        },
        error: (cause: unknown) => fail(tooLate, cause),
        complete: () => fail('The lock service ended before'),
      });
      subscription.add(() => clearTimeout(timer));
    }).finally(() => subscription?.unsubscribe());
  }
}
