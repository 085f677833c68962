import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ZooKeeperCli } from '../support/neighbours/zookeeper-cli.js';
import { InteropWorld } from './interop-world.js';

const KEY = '/locks/file_write_lock_01';

describe("With ZooKeeper's own command line in the queue,", () => {
  let world: InteropWorld;
  let cli: ZooKeeperCli;
  beforeAll(async () => {
    world = await InteropWorld.start();
  });
  afterAll(() => world?.stop());
  beforeEach(async () => {
    cli = await ZooKeeperCli.start(world.server.connect);
    await cli.run('create /locks');
    await cli.run(`create ${KEY} init_payload`);
  });
  afterEach(async () => {
    await cli.run(`deleteall ${KEY}`);
    await cli.kill();
  });

  const nameOf = (path: string): string => path.slice(KEY.length + 1);

  it('ours waits behind its node, and enters when that is deleted', async () => {
    const theirs = await cli.createEphemeralSequential(`${KEY}/lock-`, 'usr_server_node_8a');
    expect(theirs).toMatch(/\/lock-\d{10}$/);
    await expect(world.locks.tryAcquire(KEY)).resolves.toBeUndefined();
    const acquiring = world.locks.acquire(KEY);
    const queue = await world.queueOf(2, KEY);
    expect(queue[0]).toBe(nameOf(theirs));
    expect(await world.locks.inspect(KEY)).toMatchObject({ holders: [{ nodePath: theirs, mode: 'exclusive' }] });

    await cli.run(`delete ${theirs}`);

    await using lock = await acquiring;
    expect(nameOf(lock.nodePath)).toBe(queue[1]);
    expect(lock.isHeld()).toBe(true);
  });

  it('ours enters when its session is closed', async () => {
    await using other = await ZooKeeperCli.start(world.server.connect);
    await other.createEphemeralSequential(`${KEY}/lock-`, 'usr_server_node_8a');
    const acquiring = world.locks.acquire(KEY);
    await world.queueOf(2, KEY);

    await other.quit();

    await using lock = await acquiring;
    expect(lock.isHeld()).toBe(true);
  });

  it('it sees ours, queues behind us, and nobody of ours passes it', async () => {
    const first = await world.locks.acquire(KEY);
    const theirs = await cli.createEphemeralSequential(`${KEY}/lock-`, 'usr_server_node_8a');
    const entered: string[] = [];
    const acquiring = world.locks.acquire(KEY).then((lock) => {
      entered.push('ours');
      return lock;
    });
    const queue = await world.queueOf(3, KEY);

    expect((await cli.list(KEY)).sort()).toEqual([...queue].sort());
    expect(queue.slice(0, 2)).toEqual([nameOf(first.nodePath), nameOf(theirs)]);

    await first.release();
    expect(await world.locks.inspect(KEY)).toMatchObject({ holders: [{ nodePath: theirs }], queueLength: 1 });
    entered.push('theirs');
    await cli.run(`delete ${theirs}`);
    const second = await acquiring;
    await second.release();

    expect(entered).toEqual(['theirs', 'ours']);
  });

  it('a parent that somebody made is left as it was', async () => {
    await using lock = await world.locks.acquire(KEY);
    await lock.release();

    expect(await cli.run(`get ${KEY}`)).toContain('init_payload');
    expect(await cli.list(KEY)).toEqual([]);
  });

  it('a nested key, a directory called 0, and litter are no contenders', async () => {
    for (const child of ['0', 'notes', 'lock-', 'lock-1', '0000000000']) await cli.run(`create ${KEY}/${child}`);
    await using nested = await world.locks.acquire(`${KEY}/0`);

    await using outer = await world.locks.acquire(KEY, { waitMs: 2_000 });
    const acquiring = world.locks.acquire(KEY);
    await world.queueOf(2, KEY);
    await outer.release();
    await using next = await acquiring;

    expect(nested.isHeld()).toBe(true);
    expect(next.isHeld()).toBe(true);
    expect(await cli.list(KEY)).toEqual(expect.arrayContaining(['0', 'notes', 'lock-', 'lock-1', '0000000000']));
  });
});
