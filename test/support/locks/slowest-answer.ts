import { performance } from 'node:perf_hooks';
import type { LockClient } from './lock-client.js';
import { outcomeOf, untilPassed } from './witness.js';

const ASK_EVERY_MS = 50;

/** How long the servers took at the worst to answer one who only asks, in that time: what a stall of them is seen by. */
export async function slowestAnswer({ service }: LockClient, forMs: number): Promise<number> {
  const startedAt = performance.now();
  let slowestMs = 0;
  while (performance.now() - startedAt < forMs) {
    const askedAt = performance.now();
    await outcomeOf(service.inspect('/locks/asked-for'));
    slowestMs = Math.max(slowestMs, performance.now() - askedAt);
    await untilPassed(ASK_EVERY_MS);
  }
  return slowestMs;
}
