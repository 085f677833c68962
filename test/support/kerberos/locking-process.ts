import { stat } from 'node:fs/promises';
import { detailsOf, LockError } from '../../../lib/lock/errors.js';
import type { LockHandle } from '../../../lib/lock/handle.js';
import { type ClosableLockService, createLockService } from '../../../lib/open.js';
import type { DistributedLockOptions } from '../../../lib/options.js';
import { onParentMessage, sendToParent } from '../process/parent.js';

/**
 * A process that locks as a Kerberos principal: libkrb5 reads the environment of the process, so each principal has a
 * process of its own. It does what it is told, one message at a time, and answers each.
 */
export type Order =
  | { readonly do: 'start'; readonly options: DistributedLockOptions }
  | { readonly do: 'acquire'; readonly key: string; readonly waitMs?: number }
  | { readonly do: 'look' }
  | { readonly do: 'release' }
  | { readonly do: 'close' };

export interface Answer {
  readonly type: 'answer';
  readonly tookMs: number;
  /** The longest turn of the event loop meanwhile. */
  readonly stalledMs: number;
  /** The longest that the thread pool took for something small meanwhile. */
  readonly poolStalledMs: number;
  readonly error?: { readonly name: string; readonly message: string; readonly details: string };
  readonly state?: string;
  readonly isHeld?: boolean;
  readonly nodePath?: string;
}

let service: ClosableLockService | undefined;
let lock: LockHandle | undefined;
let last = Promise.resolve();

async function obey(order: Order): Promise<Partial<Answer>> {
  switch (order.do) {
    case 'start':
      service = await createLockService(order.options);
      break;
    case 'acquire':
      lock = await service?.acquire(order.key, order.waitMs === undefined ? {} : { waitMs: order.waitMs });
      break;
    case 'look':
      break;
    case 'release':
      await lock?.release();
      break;
    case 'close':
      await service?.close(0);
      break;
  }
  const held = lock === undefined ? {} : { isHeld: lock.isHeld(), nodePath: lock.nodePath };
  return { ...held, ...(service === undefined ? {} : { state: service.connectionState }) };
}

async function answer(order: Order): Promise<void> {
  const startedAt = performance.now();
  let [turnAt, stalledMs] = [startedAt, 0];
  const turns = setInterval(() => {
    const now = performance.now();
    stalledMs = Math.max(stalledMs, now - turnAt);
    turnAt = now;
  }, 5);
  let poolStalledMs = 0;
  const files = setInterval(() => {
    const askedAt = performance.now();
    void stat('.').then(() => (poolStalledMs = Math.max(poolStalledMs, performance.now() - askedAt)));
  }, 50);
  const outcome = await obey(order).catch((error: unknown): Partial<Answer> => {
    const { name, message } = error as Error;
    const details = error instanceof LockError ? error.details : detailsOf(error);
    return { error: { name, message, details } };
  });
  clearInterval(turns);
  clearInterval(files);
  await sendToParent({ type: 'answer', tookMs: performance.now() - startedAt, stalledMs, poolStalledMs, ...outcome });
}

onParentMessage((order) => {
  last = last.then(() => answer(order as Order));
});
