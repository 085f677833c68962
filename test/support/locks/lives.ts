import { hasUpgrades } from '../simulation/client-under-test.js';
import type { LockHandle } from '../../../lib/lock/handle.js';
import type { LockClient } from './lock-client.js';
import type { LockStage } from './lock-stage.js';

/** What one life of a lock is played with. */
export interface Scene {
  readonly stage: LockStage;
  readonly key: string;
  /** The one to whom trouble happens. */
  readonly client: LockClient;
  /** Another service, on an untroubled link. */
  readonly other: LockClient;
  readonly signal?: AbortSignal;
  readonly waitMs?: number;
}

export interface Life {
  readonly name: string;
  /** What the other has before it begins. */
  readonly prepare?: (scene: Scene) => Promise<LockHandle>;
  /** What the client does to get its lock; `before` is released while it is at it. */
  readonly get: (scene: Scene) => Promise<LockHandle | undefined>;
  /** When the other is to let go: as soon as so many contenders queue. */
  readonly letGoAt?: number;
}

function optionsOf({ signal, waitMs }: Scene): { signal?: AbortSignal; waitMs?: number } {
  return { ...(signal === undefined ? {} : { signal }), ...(waitMs === undefined ? {} : { waitMs }) };
}

const exclusive: Life = {
  name: 'an acquire of a free key',
  get: (scene) => scene.client.service.acquire(scene.key, optionsOf(scene)),
};

const attempt: Life = {
  name: 'a tryAcquire of a free key',
  get: (scene) => scene.client.service.tryAcquire(scene.key, optionsOf(scene)),
};

const wait: Life = {
  name: 'an acquire that waits',
  prepare: ({ other, key }) => other.service.acquire(key),
  get: (scene) => scene.client.service.acquire(scene.key, optionsOf(scene)),
  letGoAt: 2,
};

const read: Life = {
  name: 'a reader that waits for a writer',
  prepare: ({ other, key }) => other.service.acquire(key, { mode: 'write' }),
  get: (scene) => scene.client.service.acquire(scene.key, { ...optionsOf(scene), mode: 'read' }),
  letGoAt: 2,
};

const upgrade: Life = {
  name: 'an upgrade that waits for a reader',
  prepare: ({ other, key }) => other.service.acquire(key, { mode: 'read' }),
  get: async (scene) => {
    const lock = await scene.client.service.acquire(scene.key, { ...optionsOf(scene), mode: 'upgradeable' });
    try {
      await lock.upgrade(optionsOf(scene));
      return lock;
    } catch (error) {
      // Its reply may be held back too.
      void lock.release();
      throw error;
    }
  },
  letGoAt: 3,
};

export const LIVES: readonly Life[] = [exclusive, attempt, wait, read, ...(hasUpgrades ? [upgrade] : [])];
