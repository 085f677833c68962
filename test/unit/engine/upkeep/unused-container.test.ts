import { describe, expect, it } from '@jest/globals';
import { create } from '../../../../lib/session/requests.js';
import { useEngineWith } from '../support/use-engine.js';

const CHECK_MS = 1_000;

describe('a container whose contender never arrived', () => {
  const { engine, one } = useEngineWith({ world: { containerCheckMs: CHECK_MS } }, 'one');

  /** Of the key and those above it, and how many children each has ever had. */
  function levels(key: string): (number | undefined)[] {
    return [key, `${key}/below`].map((path) => engine.world.stat(path)?.cversion);
  }

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
