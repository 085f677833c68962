import { AsyncLocalStorage } from 'node:async_hooks';
import type { AcquireOptions } from '../../lock/acquire-options.js';
import { checkFunction } from '../../lock/check-function.js';
import { LockConfigurationError } from '../../lock/errors.js';
import type { LockHandle } from '../../lock/handle.js';
import { covers, type LockMode } from '../../lock/mode.js';
import { contenderId } from '../../queue/node-name.js';

/** A lock that is held, as those see it that run inside. */
export interface OwnedHold {
  readonly mode: LockMode;
  readonly isReleased: boolean;
  /** By whom, and how long ago. */
  readonly takenBy: string;
}

/** One lock that the code running now has around it. */
export interface OwnedLock<H extends OwnedHold = OwnedHold> {
  readonly hold: H;
  readonly handle: LockHandle;
}

/**
 * The locks around a piece of code, innermost first: a frame for each `withLock` (one lock) or transaction (more and more).
 * A frame is closed when its call ends, so a promise that was left running sees no lock that is no longer there.
 */
export interface OwnerFrame {
  /** The lock service the locks belong to: re-entry compares services, not names. */
  readonly service: object;
  /** The logical caller: one for all frames inside each other. */
  readonly owner: string;
  /** None once it is closed: what was left running keeps its frame, and must not keep the locks (nor what those keep). */
  locks: OwnedLock[];
  parent: OwnerFrame | undefined;
  isClosed: boolean;
}

const SHARED_AS = Symbol.for('nestjs-zookeeper-lock.owner-context');

/** One storage in a process, even where the package was loaded twice. */
const storage: AsyncLocalStorage<OwnerFrame | undefined> = ((
  globalThis as { [SHARED_AS]?: AsyncLocalStorage<OwnerFrame | undefined> }
)[SHARED_AS] ??= new AsyncLocalStorage<OwnerFrame | undefined>());

/** The innermost frame around the code running now that is not closed; nor are those around it. */
export function currentFrame(): OwnerFrame | undefined {
  const innermost = nearestOpen(storage.getStore());
  // Runs that each start the next one before they end would otherwise hang together in a chain that only grows.
  for (let frame = innermost; frame !== undefined; frame = frame.parent) frame.parent = nearestOpen(frame.parent);
  return innermost;
}

/** The logical caller of the code running now. */
export function callerOf(identifiers: Identifiers): string {
  return currentFrame()?.owner ?? identifiers.next();
}

/** A frame with these locks, inside those around the code running now. */
export function frameFor(service: object, identifiers: Identifiers, locks: OwnedLock[]): OwnerFrame {
  return { service, owner: callerOf(identifiers), locks, parent: currentFrame(), isClosed: false };
}

function nearestOpen(frame: OwnerFrame | undefined): OwnerFrame | undefined {
  let open = frame;
  while (open?.isClosed === true) open = open.parent;
  return open;
}

/** Runs `work` inside a new frame, which is closed when its promise settles. */
export async function runInFrame<T>(frame: OwnerFrame, work: () => T | PromiseLike<T>): Promise<T> {
  try {
    // An async function, so that a lazy thenable starts inside the frame.
    return await storage.run(frame, async () => work());
  } finally {
    frame.isClosed = true;
    frame.locks = [];
  }
}

/**
 * Runs `work` with no lock around it: for what goes on after the caller, or is no part of it (event handlers).
 * @throws LockConfigurationError for what is no function, such as a promise: that has begun inside the lock already
 */
export function detached<T>(work: () => T): T {
  checkFunction('work', work, 'detached(() => publish())');
  return storage.run(undefined, work);
}

/** The locks around the code running now, innermost first. */
export function* ownedLocks(): Generator<OwnedLock & { readonly service: object }> {
  for (let frame = storage.getStore(); frame !== undefined; frame = frame.parent) {
    if (frame.isClosed) continue;
    for (const { hold, handle } of [...frame.locks].reverse()) {
      if (!hold.isReleased) yield { hold, handle, service: frame.service };
    }
  }
}

/**
 * The handle of the innermost lock around the code running now, of those the filter lets pass.
 * @throws LockConfigurationError for a filter that is no function
 */
export function currentLock(filter: (handle: LockHandle) => boolean = () => true): LockHandle | undefined {
  checkFunction('filter', filter, "currentLock((lock) => lock.key === '/locks/orders/42')");
  for (const { handle } of ownedLocks()) if (filter(handle)) return handle;
  return undefined;
}

/**
 * The lock that the caller has around it already, if it gives the rights that are asked for.
 * @throws LockConfigurationError where the call would wait for itself
 */
export function findReentry<H extends OwnedHold>(
  service: object,
  key: string,
  mode: LockMode,
  { reentrant = true }: Pick<AcquireOptions, 'reentrant'>,
): OwnedLock<H> | undefined {
  for (const owned of ownedLocks()) {
    if (owned.service !== service || owned.handle.key !== key) continue;
    if (!reentrant) {
      throw new LockConfigurationError(
        `${key} is already held by this same call (${owned.hold.takenBy}), and reentrant: false does not let it be shared: it ` +
          'would wait for itself',
        key,
      );
    }
    // The locks of a service are all of its own kind.
    if (covers(owned.hold.mode, mode)) return owned as OwnedLock as OwnedLock<H>;
    const advice =
      owned.hold.mode === 'upgradeable'
        ? 'call upgrade() on the handle instead'
        : "acquire it with mode 'upgradeable' in the first place, and call upgrade() on the handle";
    throw new LockConfigurationError(
      `${key} is already held as ${owned.hold.mode} by this same call (${owned.hold.takenBy}), which now asks for ${mode}: it would ` +
        `wait for itself; ${advice}`,
      key,
    );
  }
  return undefined;
}

/** Where the last group of a UUID begins. */
const COUNT_AT = 24;

/** Tells contenders and callers apart, as UUIDs: random once for a lock service, then counted, which costs an acquire less. */
export class Identifiers {
  readonly #beginning: string;
  #count = 0;

  constructor(randomUuid: string) {
    this.#beginning = contenderId(randomUuid).slice(0, COUNT_AT);
  }

  next(): string {
    this.#count += 1;
    return this.#beginning + this.#count.toString(16).padStart(12, '0');
  }
}
