import { clearTimeout, setTimeout } from 'node:timers';
import { inspect } from 'node:util';
import { merge, type Observable, type Subscription } from 'rxjs';
import type { LockService } from '../../engine/lock-service.js';
import { LockConfigurationError } from '../../lock/errors.js';
import type { LockHandle } from '../../lock/handle.js';
import type { LockMode } from '../../lock/mode.js';
import type { LockSnapshot } from '../../lock/snapshot.js';
import { type ConnectionState, isUp } from '../../session/connection-state.js';
import { TestingLockService } from './testing-lock-service.js';
import type { TestingWorld } from './testing-world.js';

export interface BusyOptions {
  /** How the other one holds it. @default 'exclusive' */
  readonly mode?: LockMode;
}

/** Less than a test may take by default, so that what was waited for is told. */
const WITHIN_MS = 4_000;

/**
 * What happens to the locks of an application under test, in the test's hands. Nothing here waits for time to pass: each
 * method resolves when the application has been told.
 */
export class LockTesting {
  readonly #locks: TestingLockService;
  readonly #world: TestingWorld;
  readonly #busy = new Map<string, LockHandle[]>();

  private constructor(locks: TestingLockService, world: TestingWorld) {
    this.#locks = locks;
    this.#world = world;
  }

  /**
   * The handles for a lock service that `DistributedLockTestingModule`, `provideLockTesting` or `overrideLocks` made.
   * @throws LockConfigurationError for any other
   */
  static of(locks: LockService): LockTesting {
    if (locks instanceof TestingLockService) return new LockTesting(locks, locks.world);
    throw new LockConfigurationError(
      'LockTesting: this lock service is not for tests. Have it made by DistributedLockTestingModule.forRoot(), ' +
        'provideLockTesting() or overrideLocks()',
    );
  }

  /**
   * Somebody else, in another process, takes the lock and keeps it until `release`. Waits its turn.
   * @throws LockTimeoutError when the application does not give it back in time
   */
  async makeBusy(key: string, { mode = 'exclusive' }: BusyOptions = {}): Promise<void> {
    const others = await this.#world.others();
    const handle = await others.acquire(key, { mode, label: 'LockTesting' });
    this.#busy.set(key, [...(this.#busy.get(key) ?? []), handle]);
  }

  /** Somebody else gives back what `makeBusy` took. Does nothing where it took nothing. */
  async release(key: string): Promise<void> {
    const handles = this.#busy.get(key) ?? [];
    this.#busy.delete(key);
    await Promise.all(handles.map((handle) => handle.release()));
  }

  /**
   * The application loses this lock while it holds it: its session ends, and with it all its locks of this connection.
   * It opens another session by itself.
   * @throws Error where the application does not hold the lock
   */
  async lose(key: string): Promise<void> {
    const { holders } = await (await this.#world.others()).inspect(key);
    if (!holders.some(({ sessionId }) => sessionId === this.#locks.sessionId)) {
      const who = holders.length === 0 ? 'nobody does' : 'somebody else does';
      throw new Error(
        `lose('${key}'): the application does not hold the lock, ${who}. Await untilHeld('${key}') first`,
      );
    }
    await this.endSession();
  }

  /**
   * The server ends the application's session, as after a long pause. While the connection is suspended the application
   * cannot know of it: it is told after `resume`.
   */
  async endSession(): Promise<void> {
    const isTold = isUp(this.#locks.connectionState) ? this.untilState('lost') : undefined;
    this.#world.entrance.expire();
    await isTold;
  }

  /**
   * The link goes down and stays down until `resume`. Held locks last for most of the session time-out; after that they
   * are lost.
   */
  async suspend(): Promise<void> {
    const isTold = isUp(this.#locks.connectionState) ? this.untilState('suspended') : undefined;
    this.#world.entrance.refuse();
    await isTold;
  }

  /** The link comes back, with the same session where the server still has it. */
  async resume(): Promise<void> {
    this.#world.entrance.accept();
    if (this.#locks.connectionState === 'connecting') return;
    await this.#until('connected again', this.#locks.connectionState$, isUp);
  }

  /** Resolves when the application is told of this state, at once if it is in it. */
  async untilState(state: ConnectionState, withinMs = WITHIN_MS): Promise<void> {
    const { connectionState$, closed$ } = this.#locks;
    // The application's own stream ends when it begins to shut down.
    const states = merge(connectionState$, closed$);
    await this.#until(`state ${state}`, states, (current) => current === state, withinMs);
  }

  /** Resolves when somebody holds the lock. */
  untilHeld(key: string): Promise<LockSnapshot> {
    return this.#untilSnapshot(key, 'held', ({ state }) => state === 'HELD');
  }

  /** Resolves when nobody holds the lock or waits for it: a decorated method answers before its lock is given back. */
  untilFree(key: string): Promise<LockSnapshot> {
    return this.#untilSnapshot(key, 'free', ({ state, queueLength }) => state === 'FREE' && queueLength === 0);
  }

  /** Resolves when so many wait for the lock. @param count 1 */
  untilWaiting(key: string, count = 1): Promise<LockSnapshot> {
    return this.#untilSnapshot(key, `waited for by ${count}`, ({ queueLength }) => queueLength === count);
  }

  async #untilSnapshot(key: string, what: string, holds: (one: LockSnapshot) => boolean): Promise<LockSnapshot> {
    const others = await this.#world.others();
    return this.#until(`${key} ${what}`, others.watch(key), holds);
  }

  #until<T>(what: string, values: Observable<T>, holds: (value: T) => boolean, withinMs = WITHIN_MS): Promise<T> {
    let last: T | undefined;
    let subscription: Subscription | undefined;
    return new Promise<T>((resolve, reject) => {
      const fail = (how: string, cause?: unknown): void =>
        reject(new Error(`${how}: ${what}. Last seen: ${inspect(last)}`, { cause }));
      const tooLate = `Not within ${withinMs} ms`;
      // RxJS's own timeout takes the global timers, which a test may have faked: it would wait for ever.
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
