import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type StandaloneServer, startZooKeeper } from '../zookeeper/start-zookeeper.js';
import { CronFleet } from './cron-fleet.js';
import { TICK_MS } from './times.js';

const START_WITHIN_MS = 60_000;
const WITHIN_MS = 600_000;

/** Declares the tests of a job that three instances start by clocks that differ. */
export function oncePerTick(ticks: number): void {
  const fleet = new CronFleet();
  let server: StandaloneServer;
  beforeAll(async () => {
    server = await startZooKeeper({ tickTimeMs: TICK_MS });
    await fleet.start(server.connect);
  }, START_WITHIN_MS);
  afterAll(async () => {
    await fleet.stop();
    await server.stop();
  });

  it(
    `runs exactly once at each of ${ticks} ticks with atLeastMs, and more often without`,
    async () => {
      const runs = await fleet.play(ticks);
      expect(runs.with).toEqual(Array.from({ length: ticks }, () => 1));
      expect(runs.without.reduce((sum, count) => sum + count)).toBeGreaterThan(ticks);
    },
    WITHIN_MS,
  );
}
