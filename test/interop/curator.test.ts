import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Neighbour, startCurator } from '../support/neighbours/neighbour.js';
import { judge } from '../support/neighbours/judge.js';
import { entriesOfEach, handOversEachWay, InteropWorld } from './interop-world.js';
import { neighbourOfRecords } from './neighbour-promises.js';

describe('With Curator on the same key,', () => {
  let world: InteropWorld;
  let curator: Neighbour;
  beforeAll(async () => {
    ({ world, neighbour: curator } = await InteropWorld.startWith(startCurator));
  });
  afterAll(() => world?.stop());

  it.each([
    ['its mutex and our exclusive locks', 'exclusive'],
    ['its write lock and ours', 'write'],
  ] as const)(
    '%s have one holder, FIFO, over 200 hand-overs each way',
    async (_which, mode) => {
      const key = `/hand-overs/${mode}`;
      const cycles = [world.cycle(mode, key), curator.cycle(mode, key)];

      const verdict = await world.judgeCycles(key, cycles, handOversEachWay(200, 'curator'), 60_000);

      expect(verdict.violations).toEqual([]);
      expect(await world.queue(key)).toEqual([]);
    },
    90_000,
  );

  it('writers of both are alone, readers together, and nobody is overtaken', async () => {
    const key = '/hand-overs/mixed';
    const cycles = (['write', 'read'] as const).flatMap((mode) => [world.cycle(mode, key), curator.cycle(mode, key)]);

    const everybody = ['ours write', 'ours read', 'curator write', 'curator read'];
    const verdict = await world.judgeCycles(key, cycles, entriesOfEach(250, everybody), 60_000);

    expect(verdict.violations).toEqual([]);
    expect(await world.queue(key)).toEqual([]);
  }, 90_000);

  it('its readers and ours are inside together; a writer waits for both, and readers behind it for the writer', async () => {
    const key = '/together';
    const theirs = curator.hold('read', key);
    await theirs.held;
    const ours = await world.hold('read', key);
    const writing = world.hold('write', key);
    await world.queueOf(3, key);
    const late = curator.hold('read', key);
    await world.queueOf(4, key);

    await theirs.release();
    expect((await world.locks.inspect(key)).holders.map(({ nodePath }) => nodePath)).toEqual([ours.nodePath]);
    await world.release(ours);
    await world.release(await writing);
    await late.held;
    await late.release();

    expect(judge(world.journal.of(key))).toMatchObject({ violations: [], mostReaders: 2 });
  });

  it('each sees the other in the queue, in the order of the numbers', async () => {
    const key = '/seen';
    const ours = await world.hold('exclusive', key);
    const theirs = curator.hold('exclusive', key);
    await world.queueOf(2, key);

    const participants = await curator.ask('participants', key);
    const snapshot = await world.locks.inspect(key);
    const [waiting] = snapshot.queue;
    await world.release(ours);
    const name = await theirs.held;
    await theirs.release();

    expect(participants).toEqual([ours.nodePath.slice(key.length + 1), name]);
    expect(snapshot.holders).toMatchObject([{ nodePath: ours.nodePath }]);
    expect(snapshot.queueLength).toBe(1);
    expect(waiting).toMatchObject({ nodePath: `${key}/${name}`, mode: 'exclusive', client: undefined });
  });

  neighbourOfRecords(() => ({ world, neighbour: curator }));

  it.each([
    ['exclusive', 'lock-'],
    ['write', '__WRIT__'],
    ['read', '__READ__'],
  ] as const)('its parsers, and those of Java, take the name of our %s contender', async (mode, lockName) => {
    const lock = await world.locks.acquire('/names', { mode });
    const name = lock.nodePath.slice('/names/'.length);
    await lock.release();

    const [isProtected, uuid, version, normalized, forSorting] = await curator.ask('parse', name, lockName);

    expect({ isProtected, uuid, version }).toEqual({ isProtected: 'true', uuid: name.slice(3, 39), version: '8' });
    expect(normalized).toBe(name.slice(40));
    expect(forSorting).toBe(name.slice(-10));
  });
});
