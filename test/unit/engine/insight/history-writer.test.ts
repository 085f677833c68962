import { describe, expect, it } from '@jest/globals';
import { decodeHistory, historyPath, historyRoot, type KeptHistory } from '../../../../lib/queue/hold-history.js';
import { LockDoctor } from '../../../../lib/extras/doctor/lock-doctor.js';
import { create, get, remove } from '../../../../lib/session/requests.js';
import { replyTo } from '../../../support/sessions/reply-to.js';
import type { Client } from '../support/engine-world.js';
import { useEngine, useEngineWith } from '../support/use-engine.js';

const KEY = '/locks/report';
const NODE = historyPath('', KEY);
/** A key whose holds lie in another node. */
const elsewhere = (from = 0): string => {
  for (let index = from; ; index += 1) if (historyPath('', `/locks/${index}`) !== NODE) return `/locks/${index}`;
};

describe('The history', () => {
  const { engine, one, other } = useEngineWith({ history: { keep: 3, overMs: 50 } }, 'one', 'other');

  const hold = (client: Client, key: string, forMs: number, label?: string): Promise<void> =>
    engine.settle(client.locks.withLock(key, () => client.sleep(forMs), { ...(label !== undefined && { label }) }));
  const read = (path = NODE) => {
    const stat = engine.world.stat(path);
    return stat === undefined ? undefined : stat.version;
  };
  const kept = async (client: Client, path = NODE) =>
    decodeHistory((await engine.settle(replyTo(client.session, get(path)))).data);

  it('says who held, for how long, with which token and how it ended, the last one first', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY, { label: 'first' }));
    const waiting = other.locks.acquire(KEY, { label: 'second' });
    await engine.runFor(1_000);
    await engine.settle(lock.release());
    const second = await engine.settle(waiting);
    await engine.runFor(100);
    await engine.settle(replyTo(one.session, remove(second.nodePath)));
    await engine.runFor(5_000);
    const { holds, dropped } = await engine.settle(new LockDoctor(one.locks).history(KEY));
    expect(dropped).toBe(0);
    expect(holds).toMatchObject([
      { token: second.fencingToken, label: 'second', mode: 'exclusive', ended: 'removed', pid: process.pid },
      { token: lock.fencingToken, label: 'first', ended: 'released', host: expect.any(String) },
    ]);
    expect(holds[0]!.waitedMs).toBeGreaterThanOrEqual(990);
    expect(holds[1]!.heldMs).toBeGreaterThanOrEqual(990);
    expect(holds[1]!.since.getTime()).toBeLessThan(holds[0]!.since.getTime());
    const json = JSON.parse(JSON.stringify(holds)) as { token: string; since: string }[];
    expect(json[0]).toMatchObject({ token: String(second.fencingToken), since: holds[0]!.since.toJSON() });
    expect((await engine.settle(new LockDoctor(one.locks).history(elsewhere()))).holds).toEqual([]);
  });

  it('has the last ones of a key, and none that were too short', async () => {
    for (const label of ['a', 'b', 'c', 'd', 'e']) {
      await hold(one, KEY, 60, label);
      await hold(one, KEY, 10, 'short');
    }
    await engine.runFor(3_000);
    const { holds } = await kept(one);
    expect(holds.map(({ label }) => label)).toEqual(['c', 'd', 'e']);
  });

  it('is written once a second at the most, whatever happens, and into one node', async () => {
    const keys = [KEY, elsewhere(), elsewhere(50)];
    const startedAt = engine.world.now();
    for (let round = 0; round < 60; round += 1) for (const key of keys) await hold(one, key, 55);
    const seconds = (engine.world.now() - startedAt) / 1_000;
    await engine.runFor(5_000);
    const versions = [...new Set(keys.map((key) => historyPath('', key)))].map((path) => read(path)!);
    // The version of a node counts its writes, but for the first one.
    const writes = versions.reduce((sum, version) => sum + version + 1, 0);
    expect(writes).toBeGreaterThan(seconds / 2);
    expect(writes).toBeLessThanOrEqual(seconds + 5);
  });

  it('loses nothing when two processes write at the same time, be the node there or not', async () => {
    const together = async (): Promise<void> => {
      const ends = [one, other].map((client) =>
        client.locks.withLock(KEY, () => client.sleep(100), { mode: 'read', label: client.process.name }),
      );
      await engine.settle(Promise.all(ends));
      await engine.runFor(10_000);
    };
    await together();
    expect((await kept(one)).holds.map(({ label }) => label).sort()).toEqual(['one', 'other']);
    for (let round = 0; round < 10; round += 1) {
      await together();
      const last = (await kept(one)).holds.slice(-2);
      expect(last.map(({ label }) => label).sort()).toEqual(['one', 'other']);
    }
    expect((await kept(one)).dropped).toBe(0);
  });

  it('keeps what was held while the link was down, and writes it when it is back', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY));
    await engine.runFor(100);
    engine.faults.refuse(one.process);
    await engine.runUntil(() => one.session.state === 'suspended');
    await engine.settle(lock.release());
    await engine.runFor(2_000);
    expect(read()).toBeUndefined();
    engine.faults.pass(one.process);
    engine.faults.accept(one.process);
    await engine.runUntil(() => read() !== undefined);
    expect((await kept(one)).holds).toMatchObject([{ token: lock.fencingToken }]);
  });

  it('gives up what the servers refuse, and counts it', async () => {
    await engine.settle(replyTo(other.session, create(historyRoot(''), 'persistent')));
    // Nobody may read this node, so nothing can be merged into it.
    const acl = [{ permissions: 30, scheme: 'world', id: 'anyone' }];
    await engine.settle(replyTo(other.session, create(NODE, 'persistent', undefined, acl)));
    for (const label of ['a', 'b']) await hold(one, KEY, 60, label);
    await engine.runFor(10_000);
    await engine.settle(replyTo(other.session, remove(NODE)));
    await hold(one, KEY, 60, 'c');
    await engine.runFor(3_000);
    const { holds, dropped } = await kept(one);
    expect(holds.map(({ label }) => label)).toEqual(['c']);
    expect(dropped).toBe(2);
  });

  it('writes down the last holds when the service is closed', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY, { label: 'last' }));
    await engine.runFor(100);
    await engine.settle(one.locks.close(0));
    expect((await kept(other)).holds).toMatchObject([{ label: 'last', ended: 'closed', token: lock.fencingToken }]);
  });

  it('lies in the namespace, also where the servers have removed that meanwhile', async () => {
    const inside = await engine.client('inside', { namespace: '/app/locks', history: { keep: 3, overMs: 0 } });
    await engine.settle(inside.locks.withLock(KEY, () => undefined));
    const above = ['/app/locks/locks/report', '/app/locks/locks', '/app/locks', '/app'];
    for (const path of above) await engine.settle(one.session.batch([remove(path)]));
    expect(engine.world.stat('/app')).toBeUndefined();
    await engine.runFor(3_000);
    const { holds } = await engine.settle(new LockDoctor(inside.locks).history(KEY));
    expect(holds).toHaveLength(1);
    expect(engine.world.stat(historyPath('/app/locks', KEY))).toBeDefined();
  });

  it('bounds what waits to be written, whatever the number of keys', async () => {
    const keys = Array.from({ length: 1_100 }, (_, index) => `/locks/many/${index}`);
    const locks = await engine.settle(Promise.all(keys.map((key) => one.locks.acquire(key))));
    await engine.runFor(100);
    // The first of them end before the others do.
    for (const some of [locks.slice(0, 100), locks.slice(100)]) {
      await engine.settle(Promise.all(some.map((lock) => lock.release())));
      await engine.runFor(10);
    }
    await engine.runFor(140_000);
    const nodes: KeptHistory[] = [];
    for (const path of new Set(keys.map((key) => historyPath('', key)))) nodes.push(await kept(one, path));
    const total = (of: (node: KeptHistory) => number) => nodes.reduce((sum, node) => sum + of(node), 0);
    expect(total(({ holds }) => holds.length)).toBe(1_000);
    expect(total(({ dropped }) => dropped)).toBe(100);
    const written = new Set(nodes.flatMap(({ holds }) => holds.map(({ key }) => key)));
    expect(keys.filter((key) => !written.has(key))).toEqual(keys.slice(0, 100));
  });
});

describe('Without the option', () => {
  const { engine, one } = useEngine('one');

  it('nothing is kept', async () => {
    await engine.settle(one.locks.withLock(KEY, () => one.sleep(500)));
    await engine.runFor(5_000);
    expect(engine.world.stat(historyRoot(''))).toBeUndefined();
  });
});
