import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Neighbour, startKazoo } from '../support/neighbours/neighbour.js';
import { judge } from '../support/neighbours/judge.js';
import { entriesOfEach, handOversEachWay, InteropWorld } from './interop-world.js';
import { neighbourOfRecords } from './neighbour-promises.js';

describe('With kazoo on the same key,', () => {
  let world: InteropWorld;
  let kazoo: Neighbour;
  beforeAll(async () => {
    ({ world, neighbour: kazoo } = await InteropWorld.startWith(startKazoo));
  });
  afterAll(() => world?.stop());

  it.each([
    ['its Lock and our exclusive locks', 'exclusive'],
    ['its WriteLock and our write locks', 'write'],
  ] as const)(
    '%s have one holder, FIFO, over 200 hand-overs each way',
    async (_which, mode) => {
      const key = `/hand-overs/${mode}`;
      const cycles = [world.cycle(mode, key), kazoo.cycle(mode, key)];

      const verdict = await world.judgeCycles(key, cycles, handOversEachWay(200, 'kazoo'), 60_000);

      expect(verdict.violations).toEqual([]);
      expect(await world.queue(key)).toEqual([]);
    },
    90_000,
  );

  it('its ReadLock and our write locks are never inside together, and nobody is overtaken', async () => {
    const key = '/hand-overs/reading';
    const cycles = [world.cycle('write', key), kazoo.cycle('read', key)];

    const everybody = ['ours write', 'kazoo read'];
    const verdict = await world.judgeCycles(key, cycles, entriesOfEach(15, everybody), 60_000);

    expect(verdict.violations).toEqual([]);
    expect(await world.queue(key)).toEqual([]);
  }, 90_000);

  it('writers are alone among its WriteLock and our readers and writers, and nobody is overtaken', async () => {
    const key = '/hand-overs/mixed';
    const cycles = [world.cycle('write', key), world.cycle('read', key), kazoo.cycle('write', key)];

    const everybody = ['ours write', 'ours read', 'kazoo write'];
    const verdict = await world.judgeCycles(key, cycles, entriesOfEach(250, everybody), 60_000);

    expect(verdict.violations).toEqual([]);
    expect(await world.queue(key)).toEqual([]);
  }, 90_000);

  it('its readers and ours are inside together; our writer waits for both', async () => {
    const key = '/together';
    const theirs = kazoo.hold('read', key);
    await theirs.held;
    const ours = await world.hold('read', key);
    const writing = world.hold('write', key);
    await world.queueOf(3, key);

    await theirs.release();
    expect((await world.locks.inspect(key)).holders.map(({ nodePath }) => nodePath)).toEqual([ours.nodePath]);
    await world.release(ours);
    await world.release(await writing);

    expect(judge(world.journal.of(key))).toMatchObject({ violations: [], mostReaders: 2 });
  });

  it('its reader waits for our writer', async () => {
    const key = '/reader-waits';
    const ours = await world.hold('write', key);
    const theirs = kazoo.hold('read', key);
    await world.queueOf(2, key);
    await world.release(ours);
    await theirs.held;
    await theirs.release();

    expect(judge(world.journal.of(key))).toMatchObject({ violations: [] });
  });

  it('each sees the other in the queue, and what we say of us', async () => {
    const key = '/seen';
    const ours = await world.locks.acquire(key, { label: 'nightly report' });
    const theirs = kazoo.hold('exclusive', key);
    await world.queueOf(2, key);

    const contenders = await kazoo.ask('contenders', 'exclusive', key);
    const snapshot = await world.locks.inspect(key);
    await ours.release();
    const name = await theirs.held;
    await theirs.release();

    expect(contenders).toHaveLength(2);
    expect(JSON.parse(contenders[0] ?? '')).toMatchObject({ pid: process.pid, label: 'nightly report' });
    expect(contenders[1]).toBe("kazoo's exclusive");
    expect(snapshot.queue).toMatchObject([{ nodePath: `${key}/${name}`, mode: 'exclusive', client: undefined }]);
  });

  neighbourOfRecords(() => ({ world, neighbour: kazoo }));

  it('it enters beside us without extra_lock_patterns, and the journal shows it', async () => {
    const key = '/blind';
    const ours = await world.hold('exclusive', key);
    const theirs = kazoo.hold('blind', key);
    await theirs.held;
    await world.release(ours);
    await theirs.release();

    expect(judge(world.journal.of(key)).violations).toHaveLength(1);
  });
});
