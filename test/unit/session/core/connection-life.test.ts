import { describe, expect, it } from '@jest/globals';
import { closed } from '../../../../lib/session/core/abandoned-session.js';
import { Call } from '../../../../lib/session/core/call.js';
import { PING_XID, type Proof, SET_WATCHES_XID } from '../../../../lib/session/core/link.js';
import { create, get, list, multi, remove, set, sync, type Request } from '../../../../lib/session/requests.js';
import { stat } from '../../support/session-world.js';
import { ConnectionProbe, NEW_SESSION, OLD_SESSION } from './connection-probe.js';

describe('A connection that begins', () => {
  it('offers the session as soon as it stands, and notes when', () => {
    const probe = new ConnectionProbe(OLD_SESSION);
    probe.clock.pass(300);
    probe.link.open();
    expect(probe.link.offer).toBe(OLD_SESSION);
    expect(probe.connection.handshakeSentAt).toBe(1_300);
    probe.link.grant(6_000);
    expect(probe.told).toEqual(['attached']);
    expect(probe.clock.timers).toBe(0);
  });

  it('is given up when no server is reached, or the handshake is not answered, within its time', () => {
    const unreachable = new ConnectionProbe();
    unreachable.clock.pass(1_000);
    expect(unreachable.told).toEqual(['silent: it could not be reached within 1000 ms']);
    const silent = new ConnectionProbe();
    silent.link.open();
    silent.clock.pass(1_000);
    expect(silent.told).toEqual(['silent: connected, no answer within 1000 ms']);
    expect(silent.link.destroyed).toBe(true);
    expect(silent.clock.timers).toBe(0);
  });

  it.each([
    ['preparing', 'the function of the option tls did not answer'],
    ['resolving', 'its name was not resolved'],
    ['connecting', 'it could not be reached'],
    ['securing', 'connected, no TLS handshake'],
  ] as const)('says what it hung in: %s', (stage, text) => {
    const probe = new ConnectionProbe();
    probe.link.stage = stage;
    probe.clock.pass(400);
    expect(probe.connection.describeAttempt()).toBe(`${text} within 400 ms`);
    probe.clock.pass(600);
    expect(probe.told).toEqual([`silent: ${text} within 1000 ms`]);
  });

  it('gives an answer less time than there was for all, where that is asked for, and never more', () => {
    const probe = new ConnectionProbe(OLD_SESSION);
    probe.clock.pass(300);
    probe.link.open();
    probe.connection.expectAnswerWithin(900);
    probe.connection.expectAnswerWithin(400);
    probe.connection.expectAnswerWithin(500);
    probe.clock.pass(399);
    expect(probe.told).toEqual([]);
    probe.clock.pass(1);
    expect(probe.told).toEqual(['silent: connected, no answer within 700 ms']);
    expect([probe.connection.ageMs, probe.clock.timers]).toEqual([700, 0]);

    const answered = new ConnectionProbe(OLD_SESSION);
    answered.link.open();
    answered.connection.expectAnswerWithin(400);
    answered.link.grant(6_000);
    expect([answered.told, answered.clock.timers]).toEqual([['attached'], 0]);
  });

  it('tells a refusal of the handshake from a server that is not there', () => {
    const away = new ConnectionProbe();
    away.link.hangUp(new Error('no route'));
    expect(away.told).toEqual(['unreachable: no route']);
    const refusing = new ConnectionProbe();
    refusing.link.open();
    refusing.link.hangUp(new Error('hung up'));
    expect(refusing.told).toEqual(['refused: hung up']);
  });

  it('says when the offered session has ended', () => {
    const probe = new ConnectionProbe(OLD_SESSION);
    probe.link.expire();
    expect(probe.told).toEqual(['expired']);
    expect(probe.link.destroyed).toBe(true);
    expect(probe.clock.timers).toBe(0);
  });

  it('takes a server that answers with another session than the one that was offered for one that refuses', () => {
    const probe = new ConnectionProbe(OLD_SESSION);
    probe.link.grantAnother(6_000, 8n);
    expect(probe.told).toEqual(['refused: it answered with another session than the one that was offered']);
    expect(probe.link.destroyed).toBe(true);
    expect(probe.clock.timers).toBe(0);
  });

  it('takes a server that grants no new session for one that refuses, not for the end of a session', () => {
    const probe = new ConnectionProbe(NEW_SESSION);
    probe.link.expire();
    expect(probe.told).toEqual(['refused: it granted no session']);
  });
});

describe('The proof of life', () => {
  it.each<[string, Request, Proof]>([
    ['a create', create('/a', 'ephemeral'), 'committed'],
    ['a delete', remove('/a'), 'committed'],
    ['a set', set('/a', new Uint8Array(0)), 'committed'],
    ['a multi that writes', multi([remove('/a')]), 'committed'],
    ['a multi that only checks', multi([{ op: 'check', path: '/a', version: 1 }]), 'nothing'],
    ['a read', get('/a'), 'nothing'],
    ['a list', list('/a'), 'nothing'],
    ['a sync, that it passed the leader', sync('/a'), 'passed'],
  ])('depends on what was answered: %s', (_, request, proof) => {
    const probe = ConnectionProbe.attached();
    probe.send(request);
    probe.clock.pass(40);
    probe.link.answer(request.op === 'multi' ? [] : { path: '/a', stat: stat() });
    expect(probe.answered).toEqual([{ sentAt: 1_000, answeredAt: 1_040, proof }]);
  });

  it('is not a write that failed, although the server answered it', () => {
    const probe = ConnectionProbe.attached();
    probe.send(create('/a', 'ephemeral'));
    probe.link.answer(-110);
    expect(probe.answered).toEqual([{ sentAt: 1_000, answeredAt: 1_000, proof: 'nothing' }]);
  });

  it('counts a ping from when it was sent', () => {
    const probe = ConnectionProbe.attached();
    probe.clock.pass(2_000);
    probe.clock.pass(30);
    probe.link.reply(PING_XID, undefined);
    expect(probe.answered).toEqual([{ sentAt: 3_000, answeredAt: 3_030, proof: 'nothing' }]);
  });
});

describe('A pong', () => {
  /** Two pings under way: at 3 000, and, as a notification kept the socket alive, at 5 000. */
  function withTwoPings(): ConnectionProbe {
    const probe = ConnectionProbe.attached();
    probe.clock.pass(3_000);
    probe.link.event('changed', '/a');
    probe.clock.pass(1_000);
    expect(probe.link.operations()).toEqual(['ping', 'ping']);
    return probe;
  }

  it('answers the oldest ping under way: taken for the newer one it would prove what no server has seen', () => {
    const probe = withTwoPings();
    probe.clock.pass(30);
    probe.link.reply(PING_XID, undefined);
    expect(probe.answered).toEqual([{ sentAt: 3_000, answeredAt: 5_030, proof: 'nothing' }]);
    probe.clock.pass(20);
    probe.link.reply(PING_XID, undefined);
    expect(probe.answered.slice(1)).toEqual([{ sentAt: 5_000, answeredAt: 5_050, proof: 'nothing' }]);
  });

  it('proves nothing where it answers no ping, and harms nothing', () => {
    const probe = withTwoPings();
    for (let count = 0; count < 3; count += 1) probe.link.reply(PING_XID, undefined);
    expect(probe.answered.map(({ sentAt }) => sentAt)).toEqual([3_000, 5_000]);
    expect(probe.told).toEqual(['attached', 'event']);
  });

  it('counts behind a ping and two frames of watches, as each answer does, from when its own request was sent', () => {
    const probe = ConnectionProbe.attached();
    const watches = { op: 'setWatches', relativeZxid: 0n, data: ['/a'], exists: [], children: [] } as const;
    probe.connection.conversation.sendApart(watches);
    probe.clock.pass(500);
    probe.connection.conversation.sendApart(watches);
    probe.clock.pass(2_000);
    expect(probe.link.operations()).toEqual(['setWatches', 'setWatches', 'ping']);
    for (const xid of [SET_WATCHES_XID, SET_WATCHES_XID, PING_XID]) probe.link.reply(xid, undefined);
    expect(probe.answered.map(({ sentAt }) => sentAt)).toEqual([1_000, 1_500, 3_500]);
  });
});

describe('The end of a connection', () => {
  it('comes after two thirds of S without a byte, and every call settles', async () => {
    const probe = ConnectionProbe.attached();
    const call = probe.send(sync('/'));
    probe.clock.pass(4_000);
    expect(probe.told.at(-1)).toBe('dropped: nothing was heard from it for 4000 ms');
    await expect(call.promise).rejects.toMatchObject({ code: 'CONNECTION_LOSS', outcomeUnknown: true });
    expect(probe.clock.timers).toBe(0);
  });

  it('is told once', () => {
    const probe = ConnectionProbe.attached();
    probe.link.listener.onClosed(new Error('reset'));
    probe.link.listener.onClosed(new Error('again'));
    expect(probe.told).toEqual(['attached', 'dropped: reset']);
  });

  it('settles a call that comes too late, too', async () => {
    const probe = ConnectionProbe.attached();
    probe.link.hangUp();
    await expect(probe.send(sync('/')).promise).rejects.toMatchObject({ code: 'CONNECTION_LOSS' });
  });

  it('is not told to the owner that has given it up, and calls settle as that one says', async () => {
    const probe = ConnectionProbe.attached();
    const call = probe.send(sync('/'));
    probe.connection.conversation.send(new Call({ op: 'closeSession' }));
    probe.connection.destroy(closed);
    await expect(call.promise).rejects.toMatchObject({ code: 'CLOSED' });
    expect(probe.told).toEqual(['attached']);
    expect(probe.clock.timers).toBe(0);
  });
});
