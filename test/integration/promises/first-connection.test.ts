import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import { Test } from '@nestjs/testing';
import { DistributedLockModule, LockService } from '../../../lib/index.js';
import { createLockService } from '../../../lib/open.js';
import { outcomeOf, untilPassed } from '../../support/locks/witness.js';
import { within } from '../../support/process/eventually.js';
import { startZooKeeper, type StandaloneServer } from '../../support/zookeeper/start-zookeeper.js';

/** As long as an election may take, and longer than the waits below. */
const AWAY_MS = 3_000;
/** For the answer of a server that has only just begun to serve, on a busy machine. */
const WAIT_MS = 1_500;

describe('The first connection has a time of its own: while ZooKeeper is away for a moment,', () => {
  let server: StandaloneServer;
  let serving: Promise<void>;
  beforeEach(async () => {
    server = await startZooKeeper({ tickTimeMs: 500 });
    await server.kill();
    serving = untilPassed(AWAY_MS).then(() => server.start());
  }, 60_000);
  afterEach(async () => {
    await serving;
    await server.stop();
  }, 60_000);

  it('applications whose waitMs is 100, or 0, start', async () => {
    const { connect } = server;
    const modules = [100, 0].map(async (waitMs) => {
      const locks = DistributedLockModule.forRoot({ connect, waitMs, sessionTimeoutMs: 6_000, serverTickMs: 500 });
      const module = await Test.createTestingModule({ imports: [locks] }).compile();
      module.useLogger(false);
      return module.init();
    });
    for (const module of await Promise.all(modules)) {
      expect(module.get(LockService).connectionState).toBe('connected');
      await module.close();
    }
  }, 60_000);

  it('createLockService resolves, and so does the first call of one that starts lazily', async () => {
    const options = { connect: server.connect, waitMs: WAIT_MS, sessionTimeoutMs: 6_000, serverTickMs: 500 };
    await using lazy = await createLockService({ ...options, startup: 'lazy' });
    const states: unknown[] = [];
    // The wait for the lock begins when the connection is there: it may be that of somebody else, for longer than waitMs.
    const first = outcomeOf(lazy.inspect('/locks/first')).then((outcome) => states.push(outcome));
    await using eager = await createLockService(options);
    expect(eager.connectionState).toBe('connected');
    await first;
    expect(states).toEqual([expect.objectContaining({ state: 'FREE' })]);
  }, 60_000);

  it('a call with a waitMs of its own keeps to it', async () => {
    await using lazy = await createLockService({ connect: server.connect, startup: 'lazy', sessionTimeoutMs: 6_000 });
    const startedAt = performance.now();
    const outcome = await within(10_000, 'it settles', outcomeOf(lazy.acquire('/locks/a', { waitMs: 100 })));
    expect(outcome).toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(performance.now() - startedAt).toBeLessThan(AWAY_MS);
  }, 60_000);
});
