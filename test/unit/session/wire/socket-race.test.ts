import { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { VirtualTime } from '../../../../lib/session/simulator/time/virtual-time.js';
import { SocketRace, type RaceListener } from '../../../../lib/session/wire/socket-race.js';

class Told implements RaceListener {
  readonly connected: string[] = [];
  readonly failed: string[] = [];

  onConnected(_: Socket, address: string): void {
    this.connected.push(address);
  }

  onFailed(error: Error, address: string): void {
    this.failed.push(`${address}: ${error.message}`);
  }
}

let time: VirtualTime;

function advance(byMs: number): void {
  time.runAlone(() => false, time.now() + byMs);
}

function race(addresses: readonly string[]) {
  const sockets = new Map<string, Socket>();
  const told = new Told();
  const open = (address: string) => {
    const socket = new Socket();
    sockets.set(address, socket);
    return socket;
  };
  const clock = { now: () => time.now(), setTimer: time.after.bind(time) };
  return { race: new SocketRace(addresses, open, told, clock), sockets, told };
}

beforeEach(() => {
  time = new VirtualTime(undefined);
});

afterEach(() => {
  expect(time.nextAt()).toBeUndefined();
});

describe('SocketRace', () => {
  it('leaves the spare alone while the first address answers soon', () => {
    const { sockets, told } = race(['10.0.0.1', 'fd00::1']);
    advance(299);
    sockets.get('10.0.0.1')?.emit('connect');

    expect(told.connected).toEqual(['10.0.0.1']);
    expect([...sockets.keys()]).toEqual(['10.0.0.1']);
  });

  it('tries the spare at once when the first address fails', () => {
    const { sockets, told } = race(['10.0.0.1', 'fd00::1']);
    sockets.get('10.0.0.1')?.emit('error', new Error('refused'));
    sockets.get('fd00::1')?.emit('connect');

    expect(told).toMatchObject({ connected: ['fd00::1'], failed: [] });
  });

  it('tries the spare beside a first address that is silent; the later connection is destroyed', () => {
    const { sockets, told } = race(['10.0.0.1', 'fd00::1']);
    advance(300);
    expect([...sockets.keys()]).toEqual(['10.0.0.1', 'fd00::1']);
    sockets.get('10.0.0.1')?.emit('connect');

    expect(told.connected).toEqual(['10.0.0.1']);
    expect(sockets.get('10.0.0.1')?.destroyed).toBe(false);
    expect(sockets.get('fd00::1')?.destroyed).toBe(true);
  });

  it('fails with the first error when no address is left', () => {
    const { sockets, told } = race(['10.0.0.1', 'fd00::1']);
    advance(300);
    sockets.get('fd00::1')?.emit('error', new Error('unreachable'));
    expect(told.failed).toEqual([]);
    sockets.get('10.0.0.1')?.emit('error', new Error('timed out'));

    expect(told.failed).toEqual(['fd00::1: unreachable']);
  });

  it('is over when it is cancelled', () => {
    const { race: cancelled, sockets, told } = race(['10.0.0.1', 'fd00::1']);
    advance(300);
    cancelled.cancel();
    for (const socket of sockets.values()) {
      expect(socket.destroyed).toBe(true);
      socket.emit('connect');
      socket.emit('error', new Error('late'));
    }

    expect(told).toMatchObject({ connected: [], failed: [] });
  });
});
