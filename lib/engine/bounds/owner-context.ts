import { AsyncLocalStorage } from 'node:async_hooks';
import { Subject } from 'rxjs';
import type { AcquireOptions } from '../../lock/acquire-options.js';
import { checkFunction } from '../../lock/option-rules.js';
import { LockConfigurationError } from '../../lock/errors.js';
import type { LockEvent, LockEventFacts } from '../../lock/events.js';
import type { LockHandle } from '../../lock/handle.js';
import { withJson } from '../../lock/json.js';
import { covers, type LockMode } from '../../lock/mode.js';
import { contenderId } from '../../queue/node-name.js';

/** A lock that is held, as the code that runs inside it sees it. */
export interface OwnedHold {
  readonly mode: LockMode;
  readonly isReleased: boolean;
  /** Says who acquired the lock, and how long ago, as a clause. */
  readonly acquiredBy: string;
}

/** One lock around the code that runs now. */
export interface OwnedLock<H extends OwnedHold = OwnedHold> {
  readonly hold: H;
  readonly handle: LockHandle;
}

/**
 * The locks around a piece of code. Each `withLock` makes a frame with one lock, each transaction a frame that its locks are
 * added to. A frame is closed when its call ends, so a promise that was left running does not see a lock that has gone.
 */
export interface OwnerFrame {
  /** The lock service that the locks belong to. Re-entry compares services, as two of them may use the same names. */
  readonly service: object;
  /** The logical caller, the same for all frames inside each other. */
  readonly owner: string;
  /** The locks in the order in which they were acquired; empty once the frame is closed. */
  locks: OwnedLock[];
  parent: OwnerFrame | undefined;
  isClosed: boolean;
}

const SHARED_AS = Symbol.for('nestjs-zookeeper-lock.owner-context');

/** The process has one storage, even where the package was loaded twice. */
const storage: AsyncLocalStorage<OwnerFrame | undefined> = ((
  globalThis as { [SHARED_AS]?: AsyncLocalStorage<OwnerFrame | undefined> }
)[SHARED_AS] ??= new AsyncLocalStorage<OwnerFrame | undefined>());

/** The innermost open frame around the code that runs now. Its parents are open, too. */
export function currentFrame(): OwnerFrame | undefined {
  const innermost = nearestOpen(storage.getStore());
  // Closed parents are cut out here. Runs that each start the next one before they end would otherwise form a chain that
  // only grows.
  for (let frame = innermost; frame !== undefined; frame = frame.parent) frame.parent = nearestOpen(frame.parent);
  return innermost;
}

/** The logical caller of the code that runs now. */
export function callerOf(identifiers: Identifiers): string {
  return currentFrame()?.owner ?? identifiers.next();
}

/** A new frame with these locks of this owner, inside the frames around the code that runs now. */
export function frameFor(service: object, owner: string, locks: OwnedLock[]): OwnerFrame {
  return { service, owner, locks, parent: currentFrame(), isClosed: false };
}

function nearestOpen(frame: OwnerFrame | undefined): OwnerFrame | undefined {
  let open = frame;
  while (open?.isClosed === true) open = open.parent;
  return open;
}

/** Runs `work` inside this frame, and closes the frame when the promise settles. */
export async function runInFrame<T>(frame: OwnerFrame, work: () => T | PromiseLike<T>): Promise<T> {
  try {
    // The async function makes a lazy thenable (a query builder, say) start inside the frame.
    return await storage.run(frame, async () => work());
  } finally {
    frame.isClosed = true;
    // A promise that was left running keeps its frame, and must not keep the locks with all that hangs on them.
    frame.locks = [];
  }
}

/**
 * Runs `work` with no lock around it: for work that outlives the caller, or is no part of it (event handlers).
 * @throws LockConfigurationError for anything but a function
 */
export function detached<T>(work: () => T): T {
  // A promise would be too late: its work has begun inside the lock already.
  checkFunction('work', work, 'detached(() => publish())');
  // A caller without a lock around it has nothing to leave, and Node makes every promise dearer once a storage has been run.
  return storage.getStore() === undefined ? work() : storage.run(undefined, work);
}

/** The events of a lock service. */
export class LockEvents extends Subject<LockEvent> {
  override next(facts: LockEventFacts): void {
    if (this.observed) this.tell(withJson(facts));
  }

  /** Tells an event that has its `toJSON` already. */
  tell(event: LockEvent): void {
    // A listener runs in the call that the event is about, but has none of that call's locks around it.
    detached(() => super.next(event));
  }
}

/** The locks around the code that runs now, innermost first. */
function* ownedLocks(): Generator<OwnedLock & { readonly service: object }> {
  for (let frame = storage.getStore(); frame !== undefined; frame = frame.parent) {
    if (frame.isClosed) continue;
    for (const { hold, handle } of [...frame.locks].reverse()) {
      if (!hold.isReleased) yield { hold, handle, service: frame.service };
    }
  }
}

/**
 * The handle of the innermost lock around the code that runs now, among those that pass the filter.
 * @throws LockConfigurationError for a filter that is no function
 */
export function currentLock(filter: (handle: LockHandle) => boolean = () => true): LockHandle | undefined {
  checkFunction('filter', filter, "currentLock((lock) => lock.key === '/locks/orders/42')");
  for (const { handle } of ownedLocks()) if (filter(handle)) return handle;
  return undefined;
}

/**
 * Finds the lock that the caller has around it already, if its mode includes the one that is asked for.
 * @throws LockConfigurationError where the call would wait for itself
 */
export function findReentry<H extends OwnedHold>(
  service: object,
  key: string,
  mode: LockMode,
  { reentrant = true }: Pick<AcquireOptions, 'reentrant'>,
): OwnedLock<H> | undefined {
  // Most calls have no lock around them.
  if (storage.getStore() === undefined) return undefined;
  for (const owned of ownedLocks()) {
    if (owned.service !== service || owned.handle.key !== key) continue;
    if (!reentrant) {
      throw new LockConfigurationError(
        `${key} is already held by this same call (${owned.hold.acquiredBy}), and reentrant: false does not let it be shared: it ` +
          'would wait for itself',
        key,
      );
    }
    // All locks of one service have the same type of hold, and the service was compared above.
    if (covers(owned.hold.mode, mode)) return owned as OwnedLock as OwnedLock<H>;
    const advice =
      owned.hold.mode === 'upgradeable'
        ? 'call upgrade() on the handle instead'
        : "acquire it with mode 'upgradeable' in the first place, and call upgrade() on the handle";
    throw new LockConfigurationError(
      `${key} is already held as ${owned.hold.mode} by this same call (${owned.hold.acquiredBy}), which now asks for ${mode}: it would ` +
        `wait for itself; ${advice}`,
      key,
    );
  }
  return undefined;
}

/** The last group of a UUID begins here. */
const COUNT_AT = 24;
const ZEROS = '000000000000';

/** Makes the UUIDs that tell contenders and callers apart. The beginning is random for each lock service, the rest counts up. */
export class Identifiers {
  readonly #beginning: string;
  #count = 0;

  constructor(randomUuid: string) {
    this.#beginning = contenderId(randomUuid).slice(0, COUNT_AT);
  }

  next(): string {
    // Counting costs an acquire less than a new random UUID.
    this.#count += 1;
    const count = this.#count.toString(16);
    return this.#beginning + ZEROS.slice(count.length) + count;
  }
}
