import { describe, expect, it } from '@jest/globals';
import { get, list, sync } from '../../../../lib/session/requests.js';
import { promisesSettled } from '../../support/manual-clock.js';
import { SessionWorld, stat } from '../../support/session-world.js';
import { replyTo } from '../../../support/sessions/reply-to.js';

const NODE_EXISTS = -110;
const NO_AUTH = -102;
const NO_NODE = -101;

function paths(world: SessionWorld): string[] {
  return world.link.sent.map(
    ({ request, chroot }) => `${request.op} ${chroot}|${'path' in request ? request.path : ''}`,
  );
}

describe('A chroot', () => {
  it('is made with its parents before anybody is told that the session is up', async () => {
    const world = SessionWorld.connected({ chroot: '/a/b' });
    expect(paths(world)).toEqual(['create |/a', 'create |/a/b', 'exists |/a/b']);
    expect(world.client.state).toBe('connecting');
    await expect(replyTo(world.client, sync('/'))).rejects.toMatchObject({ code: 'NOT_CONNECTED' });
    world.link.answer(NODE_EXISTS);
    world.link.answer({ path: '/a/b', stat: stat() });
    world.link.answer(stat());
    await promisesSettled();
    expect(world.client.state).toBe('connected');
  });

  it('is good if it may not be made but is there', async () => {
    const world = SessionWorld.connected({ chroot: '/a' });
    world.link.answer(NO_AUTH);
    world.link.answer(stat());
    await promisesSettled();
    expect(world.client.state).toBe('connected');
  });

  it('closes the session if it is missing and may not be made, and the error says why', async () => {
    const world = SessionWorld.connected({ chroot: '/a' });
    world.link.answer(NO_AUTH);
    world.link.answer(NO_NODE);
    await promisesSettled();
    world.link.answer();
    await promisesSettled();
    expect(world.client.state).toBe('closed');
    expect(world.client.failure).toMatchObject({ code: 'LOCK_CONFIGURATION', cause: { code: 'NO_AUTH' } });
    expect(world.client.failure?.details).toContain('/a');
    expect(world.clock.timers).toBe(0);
    expect(world.dialer.open).toEqual([]);
  });

  it('closes the session if its existence may not even be asked for, instead of leaving everybody waiting', async () => {
    const world = SessionWorld.connected({ chroot: '/a' });
    world.link.answer(NO_AUTH);
    world.link.answer(NO_AUTH);
    await promisesSettled();
    world.link.answer();
    await promisesSettled();
    expect(world.client.state).toBe('closed');
    expect(world.client.failure).toMatchObject({ cause: { code: 'NO_AUTH' } });
  });

  it('is made on the next connection where its making was cut off, although the session is the same', async () => {
    const world = SessionWorld.connected({ chroot: '/a' });
    world.link.hangUp();
    (await world.nextLink()).grant(10_000);
    await promisesSettled();
    expect(world.client.state).toBe('connecting');
    expect(paths(world)).toEqual(['create |/a', 'exists |/a']);
    world.link.answer({ path: '/a', stat: stat() });
    world.link.answer(stat());
    await promisesSettled();
    expect(world.client.state).toBe('connected');
  });

  it('is taken for granted once made by the session, and made again for a new one', async () => {
    const world = SessionWorld.connected({ chroot: '/a' });
    world.link.answer({ path: '/a', stat: stat() });
    world.link.answer(stat());
    await promisesSettled();
    world.link.hangUp();
    const second = await world.nextLink();
    second.grant(10_000);
    expect(world.client.state).toBe('reconnected');
    expect(second.sent).toEqual([]);
    second.hangUp();
    (await world.nextLink()).expire();
    world.link.grant(10_000, 0x99n);
    expect(paths(world)).toEqual(['create |/a', 'exists |/a']);
  });

  it('made over a connection that ended at the same moment announces nothing', async () => {
    const world = SessionWorld.connected({ chroot: '/a' });
    world.link.answer({ path: '/a', stat: stat() });
    world.link.answer(stat());
    world.link.hangUp();
    await promisesSettled();
    expect(world.client.state).toBe('connecting');
    await expect(replyTo(world.client, sync('/'))).rejects.toMatchObject({ code: 'NOT_CONNECTED' });
  });

  it('stands in front of every path at the server, and of none that its users see', async () => {
    const world = SessionWorld.connected({ chroot: '/a' });
    world.link.answer(NODE_EXISTS);
    world.link.answer(stat());
    await promisesSettled();
    const events: string[] = [];
    const watcher = {
      onWatchEvent: ({ type, path }: { type: string; path: string }) => events.push(`${type} ${path}`),
    };
    void world.client.batch([get('/x', watcher), list('/', watcher)]);
    expect(paths(world).slice(-2)).toEqual(['get /a|/x', 'list /a|/']);
    world.link.answer({ data: new Uint8Array(0), stat: stat() });
    world.link.answer({ children: ['x'], stat: stat() });
    world.link.event('changed', '/a/x');
    expect(events).toEqual(['changed /x']);
    world.link.hangUp();
    const next = await world.nextLink();
    next.grant(10_000);
    expect(next.sent[0]?.request).toMatchObject({ op: 'setWatches', children: ['/a'] });
    expect(next.sent[0]?.chroot).toBe('');
  });
});
