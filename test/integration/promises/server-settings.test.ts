import { describe, expect, it } from '@jest/globals';
import { createLockService } from '../../../lib/index.js';
import { LockConfigurationError } from '../../../lib/lock/errors.js';
import { outcomeOf } from '../../support/locks/witness.js';
import { startEnsemble } from '../../support/zookeeper/ensemble.js';
import { startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';

/** Honest errors: servers with which there can be no lock say so in a way that an operator can act on. */
describe('Servers that are set up so that there can be no lock are told of:', () => {
  it('an acquire names the setting where local sessions may not be upgraded', async () => {
    await using ensemble = await startEnsemble({
      servers: 3,
      tickTimeMs: 500,
      extraConfig: { localSessionsEnabled: true, localSessionsUpgradingEnabled: false },
    });
    await using locks = await createLockService({ connect: ensemble.connect, serverTickMs: 500 });

    const refused = await outcomeOf(locks.acquire('/locks/a'));

    expect(refused).toBeInstanceOf(LockConfigurationError);
    expect((refused as LockConfigurationError).details).toMatch(/localSessionsUpgradingEnabled=true/);
    expect((refused as Error).cause).toMatchObject({ code: 'LOCAL_SESSION' });
  });

  it('a start says what to set where a session has two short ticks', async () => {
    await using server = await startZooKeeper({ tickTimeMs: 150 });
    const connect = { connect: server.connect, serverTickMs: 150 };

    const refused = await outcomeOf(createLockService({ ...connect, sessionTimeoutMs: 300 }));

    expect(refused).toBeInstanceOf(LockConfigurationError);
    expect((refused as Error).message).toMatch(/granted 300 ms, and serverTickMs is 150 ms/);
    await using mended = await createLockService({ ...connect, sessionTimeoutMs: 3_000 });
    await mended.withLock('/locks/a', (lock) => expect(lock.isHeld()).toBe(true));
  });
});
