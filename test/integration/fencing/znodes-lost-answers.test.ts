import { describe, expect, it } from '@jest/globals';
import { FencedZnodes } from '../../../lib/fencing/znodes/fenced-znodes.js';
import { isUp } from '../../../lib/session/connection-state.js';
import { codeOf } from '../../support/fencing/tokens.js';
import { add, passedOn, ROOT, textOf, znodeScene } from '../../support/fencing/znode-scenes.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { eventually } from '../../support/process/eventually.js';
import { telling } from '../../support/telling.js';

describe('FencedZnodes, when the answer is lost', () => {
  const stage = new LockStage();

  it('finds out that the write was done, and does it once', async () => {
    const { client, znodes, lock, path, fullPath } = await znodeScene(stage);
    await znodes.write(path, 'ab', lock);
    client.onRequest({ opcode: 'multi', path: fullPath, action: 'loseReply' });
    expect(await znodes.write(path, 'abc', lock)).toBe(1);
    client.onRequest({ opcode: 'multi', path: fullPath, action: 'loseReply' });
    expect(await znodes.remove(path, lock)).toBe(true);
    expect(await znodes.read(path)).toBeUndefined();
  });

  it('finds out that it was not done, and does it again', async () => {
    const { client, znodes, lock, path, fullPath } = await znodeScene(stage);
    await znodes.update(path, lock, add('a'));
    for (const entry of ['b', 'c']) {
      client.onRequest({ opcode: 'multi', path: fullPath, action: 'dropRequest' });
      await znodes.update(path, lock, add(entry));
    }
    expect(await znodes.read(path)).toEqual({ data: Buffer.from('abc'), version: 2 });
  });

  it('does not say that a step from one version was its own: another may have made the same', async () => {
    const { client, znodes, lock, path, fullPath } = await znodeScene(stage);
    const lost = (): void => void client.onRequest({ opcode: 'multi', path: fullPath, action: 'loseReply' });
    lost();
    expect(await codeOf(znodes.write(path, 'a', lock, { version: 'absent' }))).toBe('LOCK_UNAVAILABLE');
    lost();
    await expect(znodes.update(path, lock, add('b'))).rejects.toThrow(
      telling('it is not known whether this was carried out'),
    );
    expect(await znodes.read(path)).toEqual({ data: Buffer.from('ab'), version: 1 });
    lost();
    expect(await codeOf(znodes.remove(path, lock, { version: 1 }))).toBe('LOCK_UNAVAILABLE');
    expect(await znodes.read(path)).toBeUndefined();
  });

  it('does not count two increments of one ticket as one', async () => {
    const { client, znodes, lock, path, fullPath } = await znodeScene(stage);
    const other = await stage.open();
    const elsewhere = new FencedZnodes({ locks: other.service, root: ROOT });
    const ticket = passedOn(lock);
    const increment = (current: Buffer | undefined): string => String(Number(current) + 1);
    await znodes.write(path, '0', ticket);
    const rule = client.onRequest({ opcode: 'multi', path: fullPath, action: 'dropRequest' });
    const theirs = rule.seen.then(() => elsewhere.update(path, ticket, increment));
    const look = client.onRequest({ opcode: ['sync'], path: fullPath, action: 'holdRequest' });
    const ours = codeOf(znodes.write(path, increment(Buffer.from('0')), ticket, { version: 0 }));
    await theirs;
    look.release();
    expect(await ours).toBe('LOCK_UNAVAILABLE');
    expect(await textOf(znodes, path)).toBe('1');
  });

  it('says that it may have been written where the lock has ended in the meantime', async () => {
    const { client, znodes, lock, path, fullPath } = await znodeScene(stage);
    await znodes.write(path, 'one', lock);
    const ticket = passedOn(lock);
    const rule = client.onRequest({ opcode: 'multi', path: fullPath, action: 'dropRequest' });
    void rule.seen.then(() => stage.deleteNode(lock.nodePath));
    const late = znodes.write(path, 'two', ticket);
    await expect(late).rejects.toMatchObject({ code: 'STALE_FENCING_TOKEN' });
    await expect(late).rejects.toThrow(telling('may have been written before the lock ended'));
  });

  it('does not pretend to know while the link stays away', async () => {
    const { client, znodes, lock, path, fullPath } = await znodeScene(stage, { waitMs: 500 });
    await znodes.write(path, 'one', lock);
    const ticket = passedOn(lock);
    const rule = client.onRequest({ opcode: 'multi', path: fullPath, action: 'holdReply' });
    const writing = znodes.write(path, 'two', ticket);
    await rule.seen;
    await client.refuse();
    await expect(writing).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    await expect(writing).rejects.toThrow(telling('it may or may not have been carried out'));
    await expect(znodes.write(path, 'three', ticket)).rejects.toThrow(telling('Nothing was done'));
    await client.pass();
    await eventually('the link is back', () => isUp(client.service.connectionState));
    expect(await textOf(znodes, path)).toBe('two');
  });

  it('does not take the write of somebody else for its own', async () => {
    const { client, znodes, lock, path, fullPath } = await znodeScene(stage);
    const other = await stage.open();
    const elsewhere = new FencedZnodes({ locks: other.service, root: ROOT });
    const ticket = passedOn(lock);
    await znodes.write(path, 'one', lock);
    const rule = client.onRequest({ opcode: 'multi', path: fullPath, action: 'dropRequest' });
    const cut = rule.seen.then(() => elsewhere.write(path, 'theirs', ticket));
    const read = client.onRequest({ opcode: ['sync'], path: fullPath, action: 'holdRequest' });
    const writing = codeOf(znodes.write(path, 'ours', ticket, { version: 0 }));
    await cut;
    read.release();
    expect(await writing).toBe('LOCK_UNAVAILABLE');
    expect(await textOf(znodes, path)).toBe('theirs');
  });
});
