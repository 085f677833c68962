import { describe, expect, it } from '@jest/globals';
import { FencedZnodes, type FencedZnodesOptions } from '../../../lib/extras/fencing/znodes/fenced-znodes.js';
import { type LockTicket, ticketOf } from '../../../lib/extras/fencing/znodes/ticket.js';
import type { LockHandle } from '../../../lib/lock/handle.js';
import { createLockService } from '../../../lib/open.js';
import { isUp } from '../../../lib/session/connection-state.js';
import { create, get, remove } from '../../../lib/session/requests.js';
import { codeOf } from '../../support/fencing/tokens.js';
import type { LockClient } from '../../support/locks/lock-client.js';
import { type ClientOptions, LockStage } from '../../support/locks/lock-stage.js';
import { SESSION_MS, TICK_MS } from '../../support/locks/times.js';
import { eventually } from '../../support/process/eventually.js';

describe('FencedZnodes', () => {
  const stage = new LockStage();
  let paths = 0;

  interface Scene {
    readonly client: LockClient;
    readonly znodes: FencedZnodes;
    readonly lock: LockHandle;
    readonly path: string;
  }

  async function scene(options: ClientOptions = {}, znodeOptions: Partial<FencedZnodesOptions> = {}): Promise<Scene> {
    const client = await stage.open(options);
    const lock = await client.service.acquire(stage.freshKey());
    const znodes = new FencedZnodes({ ...znodeOptions, locks: client.service });
    return { client, lock, znodes, path: `/data/fresh/${(paths += 1)}` };
  }

  /** As it arrives in another process. */
  function passedOn(lock: LockHandle): LockTicket {
    return JSON.parse(JSON.stringify(ticketOf(lock))) as LockTicket;
  }

  async function text(znodes: FencedZnodes, path: string): Promise<string | undefined> {
    return (await znodes.read(path))?.data.toString();
  }

  const add = (entry: string) => (current: Buffer | undefined) => `${current?.toString() ?? ''}${entry}`;

  it('makes a node with its parents, writes it, reads it, removes it', async () => {
    const { znodes, lock, path } = await scene();
    expect(await znodes.read(path)).toBeUndefined();
    expect(await znodes.write(path, 'one', lock)).toBe(0);
    expect(await znodes.write(path, Buffer.from([0, 255]), passedOn(lock))).toBe(1);
    expect(await znodes.read(path)).toEqual({ data: Buffer.from([0, 255]), version: 1 });
    expect(await znodes.update(path, lock, (current) => Buffer.concat([current ?? Buffer.of(), Buffer.of(7)]))).toBe(2);
    expect((await znodes.read(path))?.data).toEqual(Buffer.from([0, 255, 7]));
    expect(await znodes.remove(path, lock)).toBe(true);
    expect(await znodes.remove(path, lock)).toBe(false);
    expect(await znodes.read(path)).toBeUndefined();
  });

  it('costs one round trip to write what is there', async () => {
    const { client, znodes, lock, path } = await scene();
    await znodes.write(path, 'one', lock);
    client.resetCounts();
    await znodes.write(path, 'two', lock);
    expect(client.opcodes()).toEqual(['multi']);
  });

  it('refuses the ticket of a session that has ended, in a session of another process', async () => {
    const { client, znodes, lock, path } = await scene({ sessionTimeoutMs: SESSION_MS });
    const other = await stage.open();
    const elsewhere = new FencedZnodes({ locks: other.service });
    const ticket = passedOn(lock);
    await elsewhere.write(path, 'handed on', ticket);

    await stage.expire(client);
    const next = await other.service.acquire(lock.key);
    await elsewhere.claim(path, next);
    await client.untilUp();

    for (const late of [
      elsewhere.write(path, 'stale', ticket),
      znodes.write(path, 'stale', ticket),
      znodes.update(path, ticket, add('stale')),
      znodes.remove(path, ticket),
      znodes.claim(path, ticket),
    ]) {
      expect(await codeOf(late)).toBe('STALE_FENCING_TOKEN');
    }
    expect(await codeOf(znodes.write(path, 'stale', lock))).toBe('LOCK_LOST');
    expect(await text(elsewhere, path)).toBe('handed on');
    await expect(znodes.write(path, 'stale', ticket)).rejects.toThrow(
      `The lock ${lock.key} with the fencing token ${lock.fencingToken} is over: its node ${lock.nodePath} is gone. Nothing`,
    );
    await next.release();
  });

  it('refuses what comes after the release', async () => {
    const { znodes, lock, path } = await scene();
    await znodes.write(path, 'one', lock);
    const ticket = passedOn(lock);
    await lock.release();
    expect(await codeOf(znodes.write(path, 'stale', ticket))).toBe('STALE_FENCING_TOKEN');
    expect(await codeOf(znodes.write(path, 'stale', lock))).toBe('LOCK_LOST');
    expect(await text(znodes, path)).toBe('one');
  });

  it('lets no write of two sessions and many callers get lost in updates', async () => {
    const { znodes, lock, path } = await scene();
    const other = await stage.open();
    const elsewhere = new FencedZnodes({ locks: other.service });
    const ticket = passedOn(lock);
    const stores = [znodes, elsewhere];
    await Promise.all(Array.from({ length: 20 }, (_, index) => stores[index % 2]!.update(path, ticket, add('x'))));
    expect(await text(znodes, path)).toBe('x'.repeat(20));
  });

  it('tells a version that has changed, a node that is there, and one that is not', async () => {
    const { znodes, lock, path } = await scene();
    expect(await codeOf(znodes.write(path, 'x', lock, { version: 0 }))).toBe('ZNODE_CONFLICT');
    await znodes.write(path, 'one', lock, { version: 'absent' });
    await expect(znodes.write(path, 'x', lock, { version: 'absent' })).rejects.toThrow(
      'should have no node, but it is there',
    );
    await znodes.write(path, 'two', lock, { version: 0 });
    await expect(znodes.write(path, 'x', lock, { version: 0 })).rejects.toThrow(
      'should have version 0, but it has another',
    );
    expect(await codeOf(znodes.remove(path, lock, { version: 0 }))).toBe('ZNODE_CONFLICT');
    expect(await text(znodes, path)).toBe('two');
    expect(await znodes.remove(path, lock, { version: 1 })).toBe(true);
  });

  describe('when the answer is lost', () => {
    it('finds out that the write was done, and does it once', async () => {
      const { client, znodes, lock, path } = await scene();
      await znodes.update(path, lock, add('a'));
      client.onRequest({ opcode: 'multi', path, action: 'loseReply' });
      expect(await znodes.update(path, lock, add('b'))).toBe(1);
      client.onRequest({ opcode: 'multi', path, action: 'loseReply' });
      expect(await znodes.write(path, 'abc', lock)).toBe(2);
      client.onRequest({ opcode: 'multi', path, action: 'loseReply' });
      expect(await znodes.remove(path, lock)).toBe(true);
      client.onRequest({ opcode: 'multi', path, action: 'loseReply' });
      expect(await znodes.write(path, 'new', lock, { version: 'absent' })).toBe(0);
      expect(await znodes.read(path)).toEqual({ data: Buffer.from('new'), version: 0 });
    });

    it('finds out that it was not done, and does it again', async () => {
      const { client, znodes, lock, path } = await scene();
      await znodes.update(path, lock, add('a'));
      for (const entry of ['b', 'c']) {
        client.onRequest({ opcode: 'multi', path, action: 'dropRequest' });
        await znodes.update(path, lock, add(entry));
      }
      expect(await znodes.read(path)).toEqual({ data: Buffer.from('abc'), version: 2 });
    });

    it('says that it may have been written where the lock has ended in the meantime', async () => {
      const { client, znodes, lock, path } = await scene();
      await znodes.write(path, 'one', lock);
      const ticket = passedOn(lock);
      const rule = client.onRequest({ opcode: 'multi', path, action: 'dropRequest' });
      void rule.seen.then(() => stage.deleteNode(lock.nodePath));
      const late = znodes.write(path, 'two', ticket);
      await expect(late).rejects.toMatchObject({ code: 'STALE_FENCING_TOKEN' });
      await expect(late).rejects.toThrow('may have been written before the lock ended');
    });

    it('does not pretend to know while the link stays away', async () => {
      const { client, znodes, lock, path } = await scene({ waitMs: 500 });
      await znodes.write(path, 'one', lock);
      const ticket = passedOn(lock);
      const rule = client.onRequest({ opcode: 'multi', path, action: 'holdReply' });
      const writing = znodes.write(path, 'two', ticket);
      await rule.seen;
      await client.refuse();
      await expect(writing).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
      await expect(writing).rejects.toThrow('it may or may not have been carried out');
      await expect(znodes.write(path, 'three', ticket)).rejects.toThrow('Nothing was done');
      await client.pass();
      await eventually('the link is back', () => isUp(client.service.connectionState));
      expect(await text(znodes, path)).toBe('two');
    });

    it('does not take the write of somebody else for its own', async () => {
      const { client, znodes, lock, path } = await scene();
      const other = await stage.open();
      const elsewhere = new FencedZnodes({ locks: other.service });
      const ticket = passedOn(lock);
      await znodes.write(path, 'one', lock);
      const rule = client.onRequest({ opcode: 'multi', path, action: 'dropRequest' });
      const cut = rule.seen.then(() => elsewhere.write(path, 'theirs', ticket));
      const read = client.onRequest({ opcode: ['sync'], path, action: 'holdRequest' });
      const writing = codeOf(znodes.write(path, 'ours', ticket, { version: 0 }));
      await cut;
      read.release();
      expect(await writing).toBe('LOCK_UNAVAILABLE');
      expect(await text(znodes, path)).toBe('theirs');
    });
  });

  it('waits while the link is down, and writes when it is back', async () => {
    const { client, znodes, lock, path } = await scene();
    await client.refuse();
    await client.untilState((state) => state === 'suspended');
    const writing = znodes.write(path, 'one', lock);
    const reading = znodes.read(path);
    await client.pass();
    await Promise.all([writing, reading]);
    expect(await text(znodes, path)).toBe('one');
  });

  it('keeps data under the namespace and the chroot, with the acl of the locks', async () => {
    const auth = { username: 'app', password: 'secret' };
    const connect = `${stage.connect}/shop`;
    const service = await createLockService({
      connect,
      namespace: '/eu',
      auth,
      sessionTimeoutMs: 5_000,
      serverTickMs: TICK_MS,
    });
    const lock = await service.acquire('/locks/a');
    const znodes = new FencedZnodes({ locks: service });
    await znodes.write('/data/a', 'x', lock);
    await znodes.write('/data/a', 'y', passedOn(lock));
    expect(await text(znodes, '/data/a')).toBe('y');
    const operator = await stage.operator();
    await expect(operator.request(get('/shop/eu/data/a'))).rejects.toMatchObject({ code: 'NO_AUTH' });
    const stranger = await createLockService({
      connect,
      namespace: '/eu',
      sessionTimeoutMs: 5_000,
      serverTickMs: TICK_MS,
    });
    const refused = new FencedZnodes({ locks: stranger }).read('/data/a');
    await expect(refused).rejects.toThrow('ZooKeeper denies access to /data/a: check auth and acl');
    await lock.release();
    await Promise.all([stranger.close(), service.close()]);
  });

  it('does not keep data where the servers remove it', async () => {
    const { znodes, lock, path } = await scene();
    await expect(znodes.write(lock.key, 'x', lock)).rejects.toThrow('belongs to the queue of the lock');
    await expect(znodes.write('/locks', 'x', lock)).rejects.toThrow('belongs to the queue of the lock');
    const operator = await stage.operator();
    await znodes.write(`${path}/parent/x`, 'x', lock);
    await operator.request(create(`${path}/parent/mortal`, 'ephemeral'));
    await expect(znodes.write(`${path}/parent/mortal`, 'x', lock)).rejects.toThrow('no place to keep anything');
    await expect(znodes.write(`${path}/parent/mortal/child`, 'x', lock)).rejects.toThrow('is an ephemeral node');
    await operator.request(remove(`${path}/parent/mortal`));
  });

  it('says so when a node has children', async () => {
    const { znodes, lock, path } = await scene();
    await znodes.write(`${path}/child`, 'x', lock);
    await expect(znodes.remove(path, lock)).rejects.toThrow('has children');
  });
});
