import { describe, expect, it } from '@jest/globals';
import { hasUpgrades } from '../../support/simulation/client-under-test.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { SESSION_MS } from '../../support/locks/times.js';
import { Witness } from '../../support/locks/witness.js';
import { eventually } from '../../support/process/eventually.js';
import { replyTo } from '../../support/sessions/reply-to.js';

describe('Tokens rise, with one server,', () => {
  const stage = new LockStage(1, { containerCheckIntervalMs: 50 });

  it('they rise across parents that are made again, sessions, and restarts of the server', async () => {
    const [client, other] = [await stage.open({ sessionTimeoutMs: SESSION_MS }), await stage.open()];
    const key = stage.freshKey();
    const witness = new Witness();
    const sequences: number[] = [];

    const hold = async (who: string, holder = client): Promise<void> => {
      const lock = await holder.service.acquire(key);
      witness.enter(who, lock);
      sequences.push(Number(lock.nodePath.slice(-10)));
      expect(lock.fencingToken).toBeGreaterThan(0n);
      expect(lock.fencingToken).toBeLessThan(2n ** 63n);
      witness.leave(lock);
      await lock.release();
    };

    await hold('the first');
    await hold('another service', other);
    await untilReaped(key);
    await hold('after the parent was made again');
    // The servers' own numbers have started again: they would have been no tokens.
    expect(sequences.at(-1)).toBeLessThanOrEqual(sequences[1]!);
    await stage.expire(client);
    await client.untilUp();
    await hold('after another session');
    await stage.server.restart();
    await client.untilUp();
    await hold('after a restart');
    await untilReaped(key);
    await stage.server.restart();
    await hold('after a restart, with another parent');
    expect(witness.violations).toEqual([]);
    expect(witness.grants).toHaveLength(6);
  }, 60_000);

  it('each is the transaction that made the node, whatever mode and upgrade', async () => {
    const client = await stage.open();
    const key = stage.freshKey();
    const tokens: bigint[] = [];
    for (const mode of ['exclusive', 'read', 'write', ...(hasUpgrades ? (['upgradeable'] as const) : [])] as const) {
      const lock = await client.service.acquire(key, { mode });
      const before = lock.fencingToken;
      if (mode === 'upgradeable') await lock.upgrade();
      expect(lock.fencingToken).toBe(before);
      const { holders } = await client.service.inspect(key);
      expect(holders[0]?.fencingToken).toBe(before);
      tokens.push(before);
      await lock.release();
    }
    expect([...tokens].sort((one, another) => (one < another ? -1 : 1))).toEqual(tokens);
  });

  async function untilReaped(key: string): Promise<void> {
    const operator = await stage.operator();
    const isGone = async (): Promise<boolean> => (await replyTo(operator, { op: 'exists', path: key })) === undefined;
    await eventually('the empty parent is reaped', isGone, { everyMs: 10 });
  }
});

describe('Tokens rise, with three servers,', () => {
  const stage = new LockStage(3);

  it('they rise across leaders, and a restart of every server', async () => {
    const client = await stage.open({ waitMs: 30_000 });
    const key = stage.freshKey();
    const witness = new Witness();
    const hold = async (who: string): Promise<void> => {
      const lock = await client.service.acquire(key);
      witness.enter(who, lock);
      witness.leave(lock);
      await lock.release();
    };

    await hold('under the first leader');
    const leader = await stage.ensemble.leader();
    await leader.kill();
    await hold('under the second leader');
    await leader.start();
    await stage.ensemble.waitForQuorum();
    await Promise.all(stage.servers.map((server) => server.kill()));
    await Promise.all(stage.servers.map((server) => server.launch()));
    await stage.ensemble.waitForQuorum();
    await hold('after a restart of every server');

    expect(witness.violations).toEqual([]);
    const epochs = witness.grants.map(({ token }) => token >> 32n);
    expect(new Set(epochs).size).toBe(3);
  }, 90_000);
});
