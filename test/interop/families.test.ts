import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LockConfigurationError } from '../../lib/lock/errors.js';
import type { LockMode } from '../../lib/lock/mode.js';
import { type Neighbour, type NeighbourMode, startCurator, startKazoo } from '../support/neighbours/neighbour.js';
import { ZooKeeperCli } from '../support/neighbours/zookeeper-cli.js';
import { InteropWorld } from './interop-world.js';

type Maker = 'curator' | 'kazoo';

/** What a client of another make holds, and what of ours it would not see, or not as what it is. */
const FORBIDDEN: readonly [Maker, NeighbourMode, LockMode][] = [
  ['curator', 'exclusive', 'read'],
  ['curator', 'exclusive', 'write'],
  ['curator', 'exclusive', 'upgradeable'],
  ['curator', 'read', 'exclusive'],
  ['curator', 'read', 'upgradeable'],
  ['curator', 'write', 'exclusive'],
  ['curator', 'write', 'upgradeable'],
  ['kazoo', 'exclusive', 'upgradeable'],
  ['kazoo', 'read', 'exclusive'],
  ['kazoo', 'read', 'upgradeable'],
];

describe('As with a client of another make a key belongs to one family,', () => {
  let world: InteropWorld;
  let neighbours: Record<Maker, Neighbour>;
  let keys = 0;
  beforeAll(async () => {
    world = await InteropWorld.start();
    const { connect } = world.server;
    neighbours = {
      curator: await startCurator(connect, world.journal),
      kazoo: await startKazoo(connect, world.journal),
    };
  });
  afterAll(async () => {
    await neighbours?.curator.stop();
    await neighbours?.kazoo.stop();
    await world?.stop();
  });

  const freshKey = (): string => `/families/${(keys += 1)}`;
  const refusalOf = async (request: Promise<unknown>): Promise<LockConfigurationError> => {
    const error = await request.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(LockConfigurationError);
    return error as LockConfigurationError;
  };

  it.each(FORBIDDEN)('%s, with a hold of %s, keeps our %s out without a trace', async (maker, theirMode, ourMode) => {
    const key = freshKey();
    const theirs = neighbours[maker].hold(theirMode, key);
    const name = await theirs.held;

    const acquired = await refusalOf(world.locks.acquire(key, { mode: ourMode }));
    const tried = await refusalOf(world.locks.tryAcquire(key, { mode: ourMode }));

    for (const error of [acquired, tried]) {
      expect(error).toMatchObject({ code: 'LOCK_CONFIGURATION', key });
      expect(error.details).toContain(name);
      expect(error.details).toContain(`mode ${ourMode}`);
    }
    expect(await world.queueOf(1, key)).toEqual([name]);
    await theirs.release();
  });

  it('a mutex of zkCli is not to be mixed with read and write locks either', async () => {
    const key = freshKey();
    await (await world.locks.acquire(key)).release();
    await using cli = await ZooKeeperCli.start(world.server.connect);
    const path = await cli.createEphemeralSequential(`${key}/lock-`, 'usr_server_node_8a');

    for (const mode of ['read', 'write', 'upgradeable'] as const) {
      expect((await refusalOf(world.locks.acquire(key, { mode }))).details).toContain(path.slice(key.length + 1));
    }
    expect(await world.queueOf(1, key)).toEqual([path.slice(key.length + 1)]);
  });

  it('who waits finds the stranger that came in behind when it looks again, and gives its place up', async () => {
    const key = freshKey();
    // A neighbour in the same process would be handed the lock without a look.
    await using another = await world.openAnother();
    const holder = await world.locks.acquire(key);
    const second = world.locks.acquire(key);
    await world.queueOf(2, key);
    const third = refusalOf(another.acquire(key));
    await world.queueOf(3, key);
    // Curator's read lock does not see exclusive locks: it is inside beside the holder, which cannot know.
    const theirs = neighbours.curator.hold('read', key);
    const name = await theirs.held;

    await holder.release();
    // It had one ahead of it only, whose end is enough.
    await (await second).release();

    expect((await third).details).toContain(name);
    expect(await world.queueOf(1, key)).toEqual([name]);
    await theirs.release();
  });

  it('an upgrade beside a reader of another make is refused, and the upgradeable hold goes on', async () => {
    const key = freshKey();
    await using lock = await world.locks.acquire(key, { mode: 'upgradeable' });
    const theirs = neighbours.curator.hold('read', key);
    const name = await theirs.held;

    const error = await refusalOf(lock.upgrade({ waitMs: 2_000 }));

    expect(error.details).toContain(name);
    expect(lock).toMatchObject({ mode: 'upgradeable' });
    expect(lock.isHeld()).toBe(true);
    expect(await world.queueOf(2, key)).toEqual([lock.nodePath.slice(key.length + 1), name]);
    await theirs.release();
  });

  it('the key is anybody’s once the other family has left', async () => {
    const key = freshKey();
    const theirs = neighbours.curator.hold('write', key);
    await theirs.held;
    await theirs.release();

    await using lock = await world.locks.acquire(key);

    expect(lock.isHeld()).toBe(true);
  });
});
