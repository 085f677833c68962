import { describe, expect, it } from '@jest/globals';
import { AUTH_XID, PING_XID, SET_WATCHES_XID } from '../../../../lib/session/core/link.js';
import { create, exists, get, multi, remove, set, sync } from '../../../../lib/session/requests.js';
import { stat } from '../../support/session-world.js';
import { ConnectionProbe } from './connection-probe.js';

describe('As answers come in the order of the requests,', () => {
  it('each answer settles its own call', async () => {
    const probe = ConnectionProbe.attached();
    const first = probe.send(get('/a'));
    const second = probe.send(remove('/b'));
    probe.link.answer({ data: new Uint8Array(0), stat: stat() });
    probe.link.answer(-101);
    await expect(first.promise).resolves.toMatchObject({ stat: { czxid: 1n } });
    await expect(second.promise).rejects.toMatchObject({ code: 'NO_NODE', path: '/b' });
  });

  it('an answer out of order is a broken connection: every call settles with its loss', async () => {
    const probe = ConnectionProbe.attached();
    const calls = [probe.send(sync('/a')), probe.send(sync('/b')), probe.send(sync('/c'))];
    probe.link.reply(2, undefined);
    for (const { promise } of calls) await expect(promise).rejects.toMatchObject({ code: 'CONNECTION_LOSS' });
    expect(probe.told).toEqual(['attached', 'dropped: it answered request 2 out of order (expected 1)']);
    expect(probe.link.destroyed).toBe(true);
    expect(probe.clock.timers).toBe(0);
  });

  it('an answer to nothing is a broken connection', () => {
    const probe = ConnectionProbe.attached();
    probe.link.reply(9, undefined);
    expect(probe.told.at(-1)).toBe('dropped: it answered request 9 out of order (expected none)');
  });

  it('an answer whose body makes no sense is a broken connection', async () => {
    const probe = ConnectionProbe.attached();
    const calls = [probe.send(get('/a')), probe.send(get('/b'))];
    probe.link.reply(1, undefined, () => {
      throw new Error('a string of -7 bytes');
    });
    for (const { promise } of calls) await expect(promise).rejects.toMatchObject({ code: 'CONNECTION_LOSS' });
    expect(probe.told.at(-1)).toBe('dropped: a string of -7 bytes');
  });

  it('answers to pings, authentication and watches set again do not queue behind requests', async () => {
    const probe = ConnectionProbe.attached();
    const call = probe.send(sync('/a'));
    probe.connection.conversation.sendApart({ op: 'auth', scheme: 'digest', credential: new Uint8Array(1) });
    probe.connection.conversation.sendApart({
      op: 'setWatches',
      relativeZxid: 0n,
      data: ['/a'],
      exists: [],
      children: [],
    });
    probe.clock.pass(2_000);
    expect(probe.link.sent.map(({ xid }) => xid)).toEqual([1, AUTH_XID, SET_WATCHES_XID, PING_XID]);
    for (const xid of [PING_XID, SET_WATCHES_XID, AUTH_XID]) probe.link.reply(xid, undefined);
    probe.link.reply(1, undefined);
    await expect(call.promise).resolves.toBeUndefined();
    expect(probe.told).toEqual(['attached']);
  });

  it('a failed authentication is told', () => {
    const probe = ConnectionProbe.attached();
    probe.connection.conversation.sendApart({ op: 'auth', scheme: 'digest', credential: new Uint8Array(1) });
    probe.link.reply(AUTH_XID, -115);
    expect(probe.told).toEqual(['attached', 'auth failed -115']);
  });

  it('watches that the server did not set again break the connection: nobody would be told of an event', () => {
    const probe = ConnectionProbe.attached();
    probe.connection.conversation.sendApart({
      op: 'setWatches',
      relativeZxid: 0n,
      data: ['/a'],
      exists: [],
      children: [],
    });
    probe.link.reply(SET_WATCHES_XID, -127);
    expect(probe.told.at(-1)).toMatch(/^dropped: .*watches/);
  });

  it.each([
    ['CONNECTION_LOSS', -4],
    ['SESSION_EXPIRED', -112],
    ['CONNECTION_LOSS', -118],
  ])(
    '%s in an answer (%i) is the end of the connection: more requests would get the same',
    async (code, errorNumber) => {
      const probe = ConnectionProbe.attached();
      const first = probe.send(sync('/a'));
      const second = probe.send(sync('/b'));
      probe.link.answer(errorNumber);
      await expect(first.promise).rejects.toMatchObject({ code });
      await expect(second.promise).rejects.toMatchObject({ code: 'CONNECTION_LOSS' });
      expect(probe.told.at(-1)).toBe(`dropped: ZooKeeper answered ${code} (${errorNumber}) to: sync /a`);
      expect(probe.link.destroyed).toBe(true);
      expect(probe.clock.timers).toBe(0);
    },
  );

  it('a request larger than servers accept is refused here, and disturbs no other', async () => {
    const probe = ConnectionProbe.attached();
    probe.link.tooLarge.add('set');
    const before = probe.send(sync('/a'));
    const large = probe.send(set('/b', new Uint8Array(0)));
    const after = probe.send(sync('/c'));
    await expect(large.promise).rejects.toMatchObject({ code: 'TOO_LARGE', path: '/b' });
    probe.link.answer();
    probe.link.answer();
    await expect(Promise.all([before.promise, after.promise])).resolves.toEqual([undefined, undefined]);
  });
});

describe('Behind a chroot,', () => {
  it('requests carry it, and created paths come back without it', async () => {
    const probe = ConnectionProbe.attached('/ch');
    const made = probe.send(create('/a', 'ephemeral-sequential'));
    const several = probe.send(multi([create('/b', 'persistent'), remove('/c')]));
    expect(probe.link.sent.map(({ chroot }) => chroot)).toEqual(['/ch', '/ch']);
    probe.link.answer({ path: '/ch/a0', stat: stat() });
    probe.link.answer([{ op: 'create', path: '/ch/b', stat: stat() }, { op: 'delete' }]);
    await expect(made.promise).resolves.toMatchObject({ path: '/a0' });
    await expect(several.promise).resolves.toMatchObject([{ op: 'create', path: '/b' }, { op: 'delete' }]);
  });

  it('a node that is not there is an answer to exists', async () => {
    const probe = ConnectionProbe.attached();
    const call = probe.send(exists('/a'));
    probe.link.answer(-101);
    await expect(call.promise).resolves.toBeUndefined();
  });
});
