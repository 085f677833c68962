import { InvalidLockKeyError, LockLostError } from '../lock/errors.js';
import { type LockHandle, MultiLockHandle } from '../lock/handle.js';
import { type LockMode, strongest } from '../lock/mode.js';
import type { KeyWithMode } from './lock-service.js';
import type { OwnedLock } from './owner-context.js';

/** Every caller takes its locks in this order: duplicates made one, in the strongest mode that was asked for. */
export function canonicalOrder(keys: readonly KeyWithMode[], defaultMode: LockMode): { key: string; mode: LockMode }[] {
  const modes = new Map<string, LockMode>();
  for (const entry of keys) {
    const { key, mode } = typeof entry === 'string' ? { key: entry, mode: defaultMode } : entry;
    const before = modes.get(key);
    modes.set(key, before === undefined ? mode : strongest(before, mode));
  }
  // By code units, not by locale: all processes must agree.
  return [...modes].map(([key, mode]) => ({ key, mode })).sort((left, right) => (left.key < right.key ? -1 : 1));
}

/** Locks that were taken together and live together. */
export class HeldLocks extends MultiLockHandle {
  readonly locks: readonly LockHandle[];
  readonly #owned: readonly OwnedLock[];
  readonly #controller = new AbortController();
  #released: Promise<void> | undefined;

  constructor(owned: readonly OwnedLock[]) {
    super();
    this.#owned = owned;
    this.locks = owned.map(({ handle }) => handle);
    for (const { signal } of this.locks) {
      if (signal.aborted) this.#lose(signal.reason);
      else
        signal.addEventListener('abort', () => this.#lose(signal.reason), {
          once: true,
          signal: this.#controller.signal,
        });
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  fencingToken(key: string): bigint {
    const lock = this.locks.find((one) => one.key === key);
    if (lock !== undefined) return lock.fencingToken;
    throw new InvalidLockKeyError(
      `${key} is none of the locks held together (${this.locks.map((one) => one.key).join(', ')})`,
      key,
    );
  }

  isHeld(): boolean {
    return !this.signal.aborted && this.locks.every((lock) => lock.isHeld());
  }

  assertHeld(): void {
    this.signal.throwIfAborted();
    for (const lock of this.locks) lock.assertHeld();
  }

  remainingMs(): number {
    return this.isHeld() ? Math.min(...this.locks.map((lock) => lock.remainingMs())) : 0;
  }

  async whenSure(): Promise<void> {
    await Promise.all(this.locks.map((lock) => lock.whenSure()));
    this.assertHeld();
  }

  release(): Promise<void> {
    this.#released ??= Promise.all(this.locks.map((lock) => lock.release())).then(() => undefined);
    return this.#released;
  }

  /** Losing one loses all, so that nobody works on a part; those that others share are given back. */
  #lose(reason: unknown): void {
    if (this.#released !== undefined || this.#controller.signal.aborted) return;
    const [first] = this.locks;
    const cause = reason instanceof Error ? reason.message : String(reason);
    this.#controller.abort(new LockLostError(`Locks held together are lost. ${cause}`, first?.key, { cause: reason }));
    for (const { hold } of this.#owned) hold.loseWithSiblings();
    void this.release();
  }
}
