import { describe, expect, it } from '@jest/globals';
import { FencedZnodes } from '../../../lib/fencing/znodes/fenced-znodes.js';
import { createLockService } from '../../../lib/open.js';
import { create, get, remove } from '../../../lib/session/requests.js';
import { codeOf } from '../../support/fencing/tokens.js';
import { add, passedOn, ROOT, textOf, znodeScene } from '../../support/fencing/znode-scenes.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { eventually } from '../../support/process/eventually.js';
import { SESSION_MS, TICK_MS } from '../../support/locks/times.js';
import { telling } from '../../support/telling.js';
import { replyTo } from '../../support/sessions/reply-to.js';

describe('FencedZnodes', () => {
  const stage = new LockStage();

  it('makes a node with its parents, writes it, reads it, removes it', async () => {
    const { znodes, lock, path } = await znodeScene(stage);
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
    const { client, znodes, lock, path } = await znodeScene(stage);
    await znodes.write(path, 'one', lock);
    client.resetCounts();
    await znodes.write(path, 'two', lock);
    expect(client.opcodes()).toEqual(['multi']);
  });

  it('refuses the ticket of a session that has ended, in a session of another process', async () => {
    const { client, znodes, lock, path } = await znodeScene(stage, { sessionTimeoutMs: SESSION_MS });
    const other = await stage.open();
    const elsewhere = new FencedZnodes({ locks: other.service, root: ROOT });
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
    expect(await textOf(elsewhere, path)).toBe('handed on');
    await expect(znodes.write(path, 'stale', ticket)).rejects.toThrow(
      telling(
        `The lock ${lock.key} with the fencing token ${lock.fencingToken} is over: its node ${lock.nodePath} is gone. Nothing`,
      ),
    );
    await next.release();
  });

  it('refuses the ticket of a waiter that nobody has signed, at once, and takes it when that one holds', async () => {
    const { znodes, lock, path } = await znodeScene(stage);
    const other = await stage.open();
    const turn = other.service.acquire(lock.key);
    const { nodePath, fencingToken } = await eventually('somebody waits', async () => {
      return (await other.service.inspect(lock.key)).queue[0];
    });
    const ticket = { key: lock.key, nodePath, fencingToken: fencingToken.toString() };
    await expect(znodes.write(path, 'stolen', ticket)).rejects.toThrow(telling('waits for its lock: others hold it'));
    expect(await znodes.read(path)).toBeUndefined();
    await lock.release();
    const next = await turn;
    expect(await znodes.write(path, 'x', ticket)).toBe(0);
    await next.release();
  });

  it('refuses what comes after the release', async () => {
    const { znodes, lock, path } = await znodeScene(stage);
    await znodes.write(path, 'one', lock);
    const ticket = passedOn(lock);
    await lock.release();
    expect(await codeOf(znodes.write(path, 'stale', ticket))).toBe('STALE_FENCING_TOKEN');
    expect(await codeOf(znodes.write(path, 'stale', lock))).toBe('LOCK_LOST');
    expect(await textOf(znodes, path)).toBe('one');
  });

  it('lets no write of two sessions and many callers get lost in updates', async () => {
    const { znodes, lock, path } = await znodeScene(stage);
    const other = await stage.open();
    const elsewhere = new FencedZnodes({ locks: other.service, root: ROOT });
    const ticket = passedOn(lock);
    const stores = [znodes, elsewhere];
    await Promise.all(Array.from({ length: 20 }, (_, index) => stores[index % 2]!.update(path, ticket, add('x'))));
    expect(await textOf(znodes, path)).toBe('x'.repeat(20));
  });

  it('tells a version that has changed, a node that is there, and one that is not', async () => {
    const { znodes, lock, path } = await znodeScene(stage);
    expect(await codeOf(znodes.write(path, 'x', lock, { version: 0 }))).toBe('ZNODE_CONFLICT');
    await znodes.write(path, 'one', lock, { version: 'absent' });
    await expect(znodes.write(path, 'x', lock, { version: 'absent' })).rejects.toThrow(
      telling('should have no node, but it is there'),
    );
    await znodes.write(path, 'two', lock, { version: 0 });
    await expect(znodes.write(path, 'x', lock, { version: 0 })).rejects.toThrow(
      telling('should have version 0, but it has another'),
    );
    expect(await codeOf(znodes.remove(path, lock, { version: 0 }))).toBe('ZNODE_CONFLICT');
    expect(await textOf(znodes, path)).toBe('two');
    expect(await znodes.remove(path, lock, { version: 1 })).toBe(true);
  });

  it('waits while the link is down, and writes when it is back', async () => {
    const { client, znodes, lock, path } = await znodeScene(stage);
    await client.refuse();
    await client.untilState((state) => state === 'suspended');
    const writing = znodes.write(path, 'one', lock);
    const reading = znodes.read(path);
    await client.pass();
    await Promise.all([writing, reading]);
    expect(await textOf(znodes, path)).toBe('one');
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
    const znodes = new FencedZnodes({ locks: service, root: ROOT });
    await znodes.write('/a', 'x', lock);
    await znodes.write('/a', 'y', passedOn(lock));
    expect(await textOf(znodes, '/a')).toBe('y');
    const operator = await stage.operator();
    await expect(replyTo(operator, get('/shop/eu/data/a'))).rejects.toMatchObject({ code: 'NO_AUTH' });
    const stranger = await createLockService({
      connect,
      namespace: '/eu',
      sessionTimeoutMs: 5_000,
      serverTickMs: TICK_MS,
    });
    const refused = new FencedZnodes({ locks: stranger, root: ROOT }).read('/a');
    await expect(refused).rejects.toThrow(
      telling('ZooKeeper denies access to /a: this node, or one above it, belongs to'),
    );
    await lock.release();
    await Promise.all([stranger.close(), service.close()]);
  });

  it('does not keep data where the servers remove it', async () => {
    const { client, znodes, lock, path, fullPath } = await znodeScene(stage);
    for (const key of [ROOT, `${ROOT}/app/migrate`]) {
      const below = await client.service.acquire(key);
      await expect(znodes.write('/app', 'x', below)).rejects.toThrow(
        telling(`The lock ${key} is below /data, where FencedZnodes`),
      );
      await below.release();
    }
    const operator = await stage.operator();
    await znodes.write(`${path}/parent/x`, 'x', lock);
    await replyTo(operator, create(`${fullPath}/parent/mortal`, 'ephemeral'));
    await expect(znodes.write(`${path}/parent/mortal`, 'x', lock)).rejects.toThrow(
      telling('nothing can be kept there'),
    );
    await expect(znodes.write(`${path}/parent/mortal/child`, 'x', lock)).rejects.toThrow(
      telling('is an ephemeral node'),
    );
    await replyTo(operator, remove(`${fullPath}/parent/mortal`));
  });

  it('gives up after 1 000 conflicts in a row', async () => {
    const { znodes, lock, path } = await znodeScene(stage);
    let calls = 0;
    const undoing = znodes.update(path, lock, async () => {
      await znodes.write(path, String((calls += 1)), lock);
      return 'never';
    });
    expect(await codeOf(undoing)).toBe('ZNODE_CONFLICT');
    expect(calls).toBe(1_000);
  });

  it('says so when a node has children', async () => {
    const { znodes, lock, path } = await znodeScene(stage);
    await znodes.write(`${path}/child`, 'x', lock);
    await expect(znodes.remove(path, lock)).rejects.toThrow(telling('has children'));
  });
});
