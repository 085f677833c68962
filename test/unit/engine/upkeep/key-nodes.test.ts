import { describe, expect, it } from '@jest/globals';
import { Parents, useUnusedContainer } from '../../../../lib/engine/upkeep/key-nodes.js';
import { SessionError } from '../../../../lib/session/errors.js';
import { create, type Request } from '../../../../lib/session/requests.js';
import type { Session } from '../../../../lib/session/session.js';
import { useEngineWith } from '../support/use-engine.js';

const made = (parents: Parents, path: string, usesRecord = false): string[] =>
  parents.missing(path, usesRecord).map((one) => `${one.mode} ${one.path}`);

describe('parents', () => {
  it('are all made for a cold key, the nearest to the root first', () => {
    expect(made(new Parents(), '/locks/orders/42')).toEqual([
      'container /locks',
      'container /locks/orders',
      'container /locks/orders/42',
    ]);
  });

  it('stay where the key has a record, as one below them is made to stay, once', () => {
    const parents = new Parents();
    parents.seen('/locks/a', false);
    expect(made(parents, '/locks/a', true)).toEqual(['persistent /locks/a/~record']);
    parents.seen('/locks/a', true);
    expect(made(parents, '/locks/a', true)).toEqual([]);
    parents.vanished('/locks/a');
    expect(made(parents, '/locks/a', true)).toEqual([
      'container /locks',
      'container /locks/a',
      'persistent /locks/a/~record',
    ]);
  });

  it('are not made again once they were seen, for this key and its neighbours', () => {
    const parents = new Parents();
    parents.seen('/locks/orders/42', false);
    expect(made(parents, '/locks/orders/42')).toEqual([]);
    expect(made(parents, '/locks/orders/43')).toEqual(['container /locks/orders/43']);
  });

  it('are made again if they vanished, all of the way', () => {
    const parents = new Parents();
    parents.seen('/locks/orders/42', false);
    parents.vanished('/locks/orders/42');
    expect(made(parents, '/locks/orders/42')).toHaveLength(3);
  });

  it('are remembered up to a bound; forgetting costs a create that finds them there', () => {
    const parents = new Parents();
    for (let index = 0; index < 30_000; index += 1) parents.seen(`/locks/${index}`, false);
    const known = Array.from({ length: 30_000 }, (_, index) => made(parents, `/locks/${index}`).length === 0);
    expect(known.filter(Boolean).length).toBeLessThanOrEqual(10_000);
    expect(known.at(-1)).toBe(true);
    expect(made(parents, '/locks/0').at(-1)).toBe('container /locks/0');
  });
});

const CHECK_MS = 1_000;

describe('a container whose contender never arrived', () => {
  const { engine, one } = useEngineWith({ world: { containerCheckMs: CHECK_MS } }, 'one');

  /** Of the key and those above it, and how many children each has ever had. */
  function levels(key: string): (number | undefined)[] {
    return [key, `${key}/below`].map((path) => engine.world.stat(path)?.cversion);
  }

  it('is used below nodes that newer servers do not let this client read', async () => {
    const sent: (readonly Request[])[] = [];
    const batch = (requests: readonly Request[]): Promise<unknown[]> => {
      sent.push(requests);
      return Promise.resolve(sent.length === 1 ? [new SessionError('NO_AUTH', 'denied'), { cversion: 0 }] : [[]]);
    };
    expect(
      await useUnusedContainer({ batch, hasMultis: true } as unknown as Session, '/others/mine', 'marker'),
    ).toBeUndefined();
    expect(sent[1]).toMatchObject([{ op: 'multi', parts: [{ path: '/others/mine/marker' }, { op: 'delete' }] }]);
  });

  it('is removed by the servers, whatever part of the way to it has arrived', async () => {
    engine.faults.setLatency(one.process, [1, 10]);
    const scenes = new Set<string>();
    for (let cutAfterMs = 0; cutAfterMs < 25; cutAfterMs += 0.25) {
      const key = `/cold-${cutAfterMs * 4}`;
      const ended = one.locks.withLock(`${key}/below`, () => undefined, { waitMs: 50 }).catch(() => undefined);
      await engine.runFor(cutAfterMs);
      engine.faults.refuse(one.process);
      await engine.settle(ended);
      scenes.add(JSON.stringify(levels(key)));
      engine.faults.accept(one.process);
      await engine.runUntil(() => one.session.state === 'reconnected');
      await engine.runFor(200);
    }
    // Nothing, the upper one alone, both without a contender.
    expect([...scenes].sort().slice(0, 3)).toEqual(['[0,null]', '[1,0]', '[1,1]']);
    await engine.runFor(4 * CHECK_MS);
    expect(engine.world.children('/').filter((name) => name.startsWith('cold'))).toEqual([]);
  });

  it('is left alone where somebody has made it to stay', async () => {
    const other = await engine.client('other');
    await engine.settle(other.session.batch([create('/kept', 'persistent'), create('/kept/below', 'persistent')]));
    engine.faults.loseNextRequest(one.process, 'create');
    await engine.failure(one.locks.acquire('/kept/below', { waitMs: 3 }));
    await engine.runFor(4 * CHECK_MS);
    expect(engine.world.stat('/kept/below')).toMatchObject({ numChildren: 0 });
  });

  it('costs nothing where contenders have been', async () => {
    await engine.settle((await engine.settle(one.locks.acquire('/warm/key'))).release());
    const { traffic } = engine.world.ensemble;
    const before = traffic.requests('multi');
    engine.faults.loseReplyOfNext(one.process, 'create');
    await engine.failure(one.locks.acquire('/warm/key', { waitMs: 3 }));
    await engine.runFor(500);
    expect(traffic.requests('multi')).toBe(before);
  });
});
