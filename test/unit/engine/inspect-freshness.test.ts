import { describe, expect, it } from '@jest/globals';
import type { LockSnapshot } from '../../../lib/lock/snapshot.js';
import { set } from '../../../lib/session/requests.js';
import { type Client, EngineWorld, rejection } from './support/engine-world.js';
import { replyTo } from '../../support/sessions/reply-to.js';
import { useEngine } from './support/use-engine.js';

const KEY = '/locks/stock';

describe('inspect() at a leader that was cut off, and does not know it,', () => {
  it('says nothing rather than what was: its list is behind a write, which that leader cannot commit', async () => {
    for (let seed = 1; seed <= 5; seed += 1) {
      const engine = new EngineWorld({ seed, servers: 3 });
      const leader = engine.world.leaderId!;
      const [eye, holder, next] = [
        await at(engine, 'eye', (server) => server === leader),
        await at(engine, 'holder', (server) => server !== leader),
        await at(engine, 'next', (server) => server !== leader),
      ];
      const held = await engine.settle(holder.locks.acquire(KEY));
      const before = await engine.settle(eye.locks.inspect(KEY));
      expect(before.holders[0]?.nodePath).toBe(held.nodePath);
      engine.faults.isolate(leader, [eye.process]);
      const seen: LockSnapshot[] = [];
      const looking = eye.locks.inspect(KEY).then((snapshot) => seen.push(snapshot));
      await engine.runFor(300);
      // It is a leader still, as far as anybody there knows.
      expect({ seed, seen, state: eye.locks.connectionState }).toEqual({ seed, seen: [], state: 'connected' });
      await engine.settle(held.release());
      const entered = await engine.settle(next.locks.acquire(KEY, { waitMs: 30_000 }));
      engine.faults.heal();
      await engine.settle(looking);
      expect(seen[0]?.holders[0]?.nodePath).toBe(entered.nodePath);
      await engine.end();
    }
  });

  async function at(engine: EngineWorld, name: string, suits: (server: number) => boolean): Promise<Client> {
    for (let attempt = 1; ; attempt += 1) {
      const client = await engine.client(`${name} ${attempt}`, { waitMs: 60_000 });
      if (client.process.connectedTo.every(suits)) return client;
    }
  }
});

describe('the wait that inspect() estimates', () => {
  const { engine, one, two, three, eye } = useEngine('one', 'two', 'three', 'eye');

  const inspect = (client = eye): Promise<LockSnapshot> => engine.settle(client.locks.inspect(KEY));

  /** So that its process knows how long its holds take. */
  async function holdFor(client: Client, durationMs: number): Promise<void> {
    const lock = await engine.settle(client.locks.acquire(KEY));
    await engine.runFor(durationMs);
    await engine.settle(lock.release());
  }

  it('is judged by the holds that those in the queue have seen, also in a process that never held it', async () => {
    await holdFor(one, 100);
    await holdFor(two, 300);
    await holdFor(three, 5_000);
    await engine.settle(one.locks.acquire(KEY));
    const waiting = [two, three].map((client) => rejection(client.locks.acquire(KEY, { waitMs: 2_000 })));
    await engine.runFor(50);
    const snapshot = await inspect();
    expect(snapshot.holders[0]?.client?.holdMs).toBeCloseTo(100, -1);
    expect(snapshot.queue.map(({ client }) => client?.holdMs)).toEqual([
      expect.closeTo(300, -1),
      expect.closeTo(5_000, -1),
    ]);
    // Twice the median of the three, as two are in front, and what is left to the holder, who has been inside for 50 ms.
    expect(snapshot.waitEstimateMs).toBeCloseTo(850, -2);
    await engine.settle(Promise.all(waiting));
  });

  it('is that of this process where nobody in the queue tells, and unknown where nobody knows', async () => {
    await holdFor(one, 200);
    await engine.settle(two.locks.acquire(KEY));
    const waiting = rejection(two.locks.acquire(KEY, { waitMs: 500 }));
    await engine.runFor(50);
    expect((await inspect(one)).waitEstimateMs).toBeCloseTo(350, -2);
    expect((await inspect()).waitEstimateMs).toBeUndefined();
    await engine.settle(waiting);
  });

  it.each([-5, 1e300, '100', null])('is not led astray by a foreign holdMs of %j', async (holdMs) => {
    const lock = await engine.settle(one.locks.acquire(KEY));
    const data = Buffer.from(JSON.stringify({ clientId: 'c', owner: 'o', holdMs }));
    await engine.settle(replyTo(one.session, set(lock.nodePath, data)));
    const waiting = rejection(two.locks.acquire(KEY, { waitMs: 200 }));
    await engine.runFor(50);
    const { waitEstimateMs } = await inspect();
    expect(waitEstimateMs === undefined || (Number.isFinite(waitEstimateMs) && waitEstimateMs >= 0)).toBe(true);
    await engine.settle(waiting);
  });
});
