import { createRequire } from 'node:module';
import { Redis } from 'ioredis';
import type { LockDriver } from './lock-driver.js';

interface RedlockLock {
  release(): Promise<unknown>;
}

/** The part of redlock 5 that is used: its package.json names its types where no import of Node's kind finds them. */
interface RedlockModule {
  default: new (
    clients: readonly Redis[],
    settings: Readonly<Record<string, number>>,
  ) => { acquire(resources: string[], durationMs: number): Promise<RedlockLock> };
}

const PACKAGE: string = 'redlock';
const DURATION_MS = 10_000;

/**
 * redlock asks again until it enters. Of the pauses that were tried, these hand the lock over most often. Longer ones let
 * the contender that gives the lock back take it again before anybody asks: with redlock's own (200 ms, give or take 100)
 * one that had it before makes nearly all entries, twice as many in all, while others never enter.
 */
export const REDLOCK_SETTINGS = { retryDelay: 1, retryJitter: 1, retryCount: -1 };

/** Throws where the package is not installed. */
export function findRedlock(): void {
  createRequire(import.meta.url).resolve(PACKAGE);
}

/** redlock on one Redis, over one connection, as ours are over one session. */
export async function connectRedlock(redisPort: number): Promise<LockDriver<RedlockLock>> {
  const { default: Redlock } = (await import(PACKAGE)) as RedlockModule;
  const redlock = new Redlock([new Redis(redisPort, '127.0.0.1')], REDLOCK_SETTINGS);
  return {
    prepare: () => Promise.resolve(),
    acquire: (key) => redlock.acquire([key], DURATION_MS),
    async release(lock) {
      await lock.release();
    },
  };
}
