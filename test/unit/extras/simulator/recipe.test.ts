import { describe, expect, it } from '@jest/globals';
import { LockSimulator } from '../../../../lib/extras/simulator/index.js';

describe('the recipe by hand', () => {
  it('takes a place, looks, watches the one ahead, and goes on when its session is evicted', async () => {
    await using simulator = new LockSimulator();
    const [a, b] = [simulator.client('session_node_A'), simulator.client('session_node_B')];
    const deleted: string[] = [];

    await simulator.run(async () => {
      const first = await a.recipe.createEphemeralSequential('/locks/file_01');
      expect(await a.recipe.isLockAcquired(first)).toBe(true);
      const second = await b.recipe.createEphemeralSequential('/locks/file_01');
      expect(await b.recipe.isLockAcquired(second)).toBe(false);
      expect([first, second]).toEqual(['/locks/file_01/lock-0000000000', '/locks/file_01/lock-0000000001']);
      expect(await b.recipe.watchPredecessor(second, (path) => deleted.push(path))).toBe(first);

      simulator.faults.expireSession(a);
      await simulator.until(() => deleted.length === 1);
      expect(deleted).toEqual([first]);
      expect(await b.recipe.isLockAcquired(second)).toBe(true);
      expect(await a.recipe.isLockAcquired(first)).toBe(false);
      expect(await b.recipe.watchPredecessor(second, () => undefined)).toBeUndefined();
    });
  });

  it('watches the one in front only: others that leave tell nobody', async () => {
    await using simulator = new LockSimulator({ servers: 3 });
    const clients = ['a', 'b', 'c'].map((name) => simulator.client(name));
    await simulator.run(async () => {
      const nodes: string[] = [];
      for (const { recipe } of clients) nodes.push(await recipe.createEphemeralSequential('/locks/x'));
      const told: string[] = [];
      await clients[1]!.recipe.watchPredecessor(nodes[1]!, () => told.push('b'));
      await clients[2]!.recipe.watchPredecessor(nodes[2]!, () => told.push('c'));
      simulator.faults.expireSession('a');
      await simulator.sleep(5_000);
      expect(told).toEqual(['b']);
    });
  });

  it('stands in the queue of the lock services, which wait for it', async () => {
    await using simulator = new LockSimulator();
    const [byHand, service] = [
      simulator.client('a', { namespace: '/app' }),
      simulator.client('b', { namespace: '/app' }),
    ];
    await simulator.run(async () => {
      const node = await byHand.recipe.createEphemeralSequential('/locks/x');
      expect(node).toBe('/app/locks/x/lock-0000000000');
      expect(await service.locks.tryAcquire('/locks/x')).toBeUndefined();
      const waiting = service.locks.acquire('/locks/x');
      simulator.faults.killClient(byHand);
      expect((await waiting).isHeld()).toBe(true);
      expect(simulator.queue('/app/locks/x')).toHaveLength(1);
    });
  });

  it('says so when it may not watch the one ahead', async () => {
    await using simulator = new LockSimulator();
    const a = simulator.client('a', {
      auth: { username: 'a', password: 'x' },
      acl: [{ permissions: 31, scheme: 'auth', id: '' }],
    });
    const b = simulator.client('b');
    await simulator.run(async () => {
      // The parents are for everybody, the node of the first one is not.
      await b.recipe.createEphemeralSequential('/locks/x');
      await a.recipe.createEphemeralSequential('/locks/x');
      const last = await b.recipe.createEphemeralSequential('/locks/x');
      await expect(b.recipe.watchPredecessor(last, () => undefined)).rejects.toMatchObject({ code: 'NO_AUTH' });
    });
  });

  it('refuses what is no key', async () => {
    await using simulator = new LockSimulator();
    const { recipe } = simulator.client('a');
    await expect(simulator.run(() => recipe.createEphemeralSequential('locks'))).rejects.toThrow(
      "must be given an absolute path such as '/locks/a'",
    );
  });
});
