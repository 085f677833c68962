import { AsyncLocalStorage } from 'node:async_hooks';
import type { LockHandle } from '../lock/handle.js';
import type { Hold } from './hold.js';

/** One lock that the code running now has around it. */
export interface OwnedLock {
  readonly hold: Hold;
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
  readonly locks: OwnedLock[];
  readonly parent: OwnerFrame | undefined;
  isClosed: boolean;
}

const SHARED_AS = Symbol.for('nestjs-zookeeper-lock.owner-context');

/** One storage in a process, even where the package was loaded twice. */
const storage: AsyncLocalStorage<OwnerFrame | undefined> = ((
  globalThis as { [SHARED_AS]?: AsyncLocalStorage<OwnerFrame | undefined> }
)[SHARED_AS] ??= new AsyncLocalStorage<OwnerFrame | undefined>());

export function currentFrame(): OwnerFrame | undefined {
  let frame = storage.getStore();
  while (frame?.isClosed === true) frame = frame.parent;
  return frame;
}

/** Runs `work` inside a new frame, which is closed when its promise settles. */
export async function runInFrame<T>(frame: OwnerFrame, work: () => T | PromiseLike<T>): Promise<T> {
  try {
    // An async function, so that a lazy thenable starts inside the frame.
    return await storage.run(frame, async () => work());
  } finally {
    frame.isClosed = true;
  }
}

/** Runs `work` with no lock around it: for what goes on after the caller, or is no part of it (event handlers). */
export function detached<T>(work: () => T): T {
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

/** The handle of the innermost lock around the code running now, of those the filter lets pass. */
export function currentLock(filter: (handle: LockHandle) => boolean = () => true): LockHandle | undefined {
  for (const { handle } of ownedLocks()) if (filter(handle)) return handle;
  return undefined;
}
