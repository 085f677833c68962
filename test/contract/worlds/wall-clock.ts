import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually, within } from '../../support/process/eventually.js';
import type { ContractWorld } from './contract-world.js';

const SETTLES_MS = 15_000;

/** How time passes in a world whose servers run by the clock on the wall. */
export class WallClock implements Pick<ContractWorld, 'now' | 'pass' | 'settle' | 'until'> {
  now(): number {
    return performance.now();
  }

  pass(durationMs: number): Promise<void> {
    return pause(durationMs);
  }

  settle<T>(promise: Promise<T>, withinMs = SETTLES_MS): Promise<T> {
    return within(withinMs, 'the promise settles', promise);
  }

  async until(what: string, isSo: () => boolean | Promise<boolean>, withinMs = SETTLES_MS): Promise<void> {
    await eventually(what, isSo, { withinMs, everyMs: 5 });
  }
}
