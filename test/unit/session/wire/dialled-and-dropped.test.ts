import { describe, expect, it } from '@jest/globals';
import { SocketDialer } from '../../../../lib/session/wire/socket-dialer.js';
import { HeldResolver } from '../../../support/sessions/held-resolver.js';
import { promisesSettled } from '../../support/manual-clock.js';
import { RecordingListener } from './recording-listener.js';

const SERVER = { host: 'zk1', port: 2181 };

function dialled() {
  const resolver = new HeldResolver();
  const listener = new RecordingListener();
  const link = new SocketDialer({ acl: [], resolver }).dial(SERVER, listener);
  return { resolver, listener, link };
}

describe('A connection that is given up while it begins', () => {
  it('looks no name up when that was in the turn in which it was dialled', async () => {
    const { resolver, listener, link } = dialled();
    link.destroy();
    await promisesSettled();
    expect(resolver.asked).toEqual([]);
    expect(listener.causes).toEqual([]);
  });

  it('takes its look-up back, and connects nowhere when the addresses come all the same', async () => {
    const { resolver, listener, link } = dialled();
    await promisesSettled();
    expect([resolver.asked, link.stage]).toEqual([['zk1'], 'resolving']);
    link.destroy();
    expect(resolver.cancelled).toBe(1);
    resolver.answer('127.0.0.1');
    await promisesSettled();
    expect([link.stage, listener.opened, listener.causes]).toEqual([undefined, 0, []]);
  });

  it('takes its look-up back when it is given up twice, too', async () => {
    const { resolver, link } = dialled();
    await promisesSettled();
    link.destroy();
    link.destroy();
    expect(resolver.cancelled).toBe(1);
  });
});
