import { afterEach, beforeAll } from '@jest/globals';
import { TICK_MS } from '../locks/times.js';
import { ZkLock } from './zk-lock-process.js';

const COMPILED_WITHIN_MS = 60_000;

/** The tool, and the variables that lead it to the servers of the tests. */
export interface UsedZkLock {
  readonly zkLock: ZkLock;
  readonly environment: (more?: Readonly<Record<string, string>>) => Record<string, string>;
}

/** For the tests of the `describe` around this call: the tool, of which no test leaves a process behind. */
export function useZkLock(connect: () => string): UsedZkLock {
  const zkLock = new ZkLock();
  beforeAll(() => zkLock.compile(), COMPILED_WITHIN_MS);
  afterEach(() => zkLock.killAll());
  const environment = (more = {}): Record<string, string> => ({
    ZK_LOCK_CONNECT: connect(),
    ZK_LOCK_SERVER_TICK: `${TICK_MS}ms`,
    ...more,
  });
  return { zkLock, environment };
}
