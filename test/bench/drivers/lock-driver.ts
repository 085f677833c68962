import type { AcquireOptions } from '../../../lib/lock/acquire-options.js';
import { createLockService, openSession, whenUp } from '../../../lib/open.js';
import { resolveOptions } from '../../../lib/resolve-options.js';
import { SessionError } from '../../../lib/session/errors.js';
import { create, list, remove } from '../../../lib/session/requests.js';
import { NODE_DATA } from './driver.js';

/** What is measured of a lock: to take it and to give it back, each in the contestant's own best way. */
export interface LockDriver<Held> {
  /** Whatever belongs to no acquire: makes the parent of the key where the contestant does not do so by itself. */
  prepare(key: string): Promise<void>;
  acquire(key: string): Promise<Held>;
  release(held: Held): Promise<void>;
}

const SESSION_TIMEOUT_MS = 10_000;

export async function connectLocks(
  connect: string,
  options: AcquireOptions = {},
): Promise<LockDriver<{ release(): Promise<void> }>> {
  const service = await createLockService({ connect, sessionTimeoutMs: SESSION_TIMEOUT_MS, waitMs: 60_000 });
  return {
    prepare: () => Promise.resolve(),
    acquire: (key) => service.acquire(key, options),
    release: (lock) => lock.release(),
  };
}

/** The least that any lock of this recipe costs: a contender and a list in one trip, and its removal. It excludes nobody. */
export async function connectFloor(connect: string): Promise<LockDriver<string>> {
  const session = openSession(resolveOptions({ connect, sessionTimeoutMs: SESSION_TIMEOUT_MS }));
  await whenUp(session, 10_000);
  return {
    async prepare(key) {
      await session.batch([create(key, 'persistent')]);
    },
    async acquire(key) {
      const contender = create(`${key}/lock-`, 'ephemeral-sequential', NODE_DATA);
      const [created, listed] = await session.batch([contender, list(key)]);
      if (created instanceof SessionError) throw created;
      if (listed instanceof SessionError) throw listed;
      return created.path;
    },
    async release(path) {
      const [removed] = await session.batch([remove(path)]);
      if (removed instanceof SessionError) throw removed;
    },
  };
}
