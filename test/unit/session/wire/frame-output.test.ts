import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { create, get, list, multi, set, type Acl } from '../../../../lib/session/requests.js';
import { FrameOutput, type ByteSink } from '../../../../lib/session/wire/frame-output.js';
import { bodyOf, FrameSplitter } from '../../../support/proxy/frames.js';
import { readRequest } from '../../../support/proxy/records.js';

const OPEN: readonly Acl[] = [{ permissions: 31, scheme: 'world', id: 'anyone' }];

/** Takes bytes at once, like a kernel with room, or keeps the very memory until `drain`, like one without. */
class FakeSocket implements ByteSink {
  readonly writes: Buffer[] = [];
  readonly sent: Buffer[] = [];
  destroyed = false;
  blocked = false;
  private pending: Buffer[] = [];
  private readonly callbacks: (() => void)[] = [];

  get writableLength(): number {
    return this.pending.reduce((sum, bytes) => sum + bytes.length, 0);
  }

  write(bytes: Buffer, callback?: () => void): void {
    this.writes.push(bytes);
    if (this.blocked) this.pending.push(bytes);
    else this.sent.push(Buffer.from(bytes));
    if (callback !== undefined) this.callbacks.push(callback);
  }

  drain(): void {
    this.sent.push(...this.pending.map((bytes) => Buffer.from(bytes)));
    this.pending = [];
    for (const callback of this.callbacks.splice(0)) callback();
  }

  /** As another implementation reads what was sent. */
  requests(): string[] {
    const splitter = new FrameSplitter();
    return splitter.push(Buffer.concat(this.sent)).map((frame) => {
      const { xid, opcode, path } = readRequest(frame);
      return `${xid} ${opcode} ${path}`;
    });
  }
}

describe('FrameOutput', () => {
  it('lets all frames of a turn leave in one write', async () => {
    const socket = new FakeSocket();
    const output = new FrameOutput(socket, OPEN);
    output.send(1, create('/a', 'ephemeral-sequential'), '');
    await Promise.resolve();
    output.send(2, list('/a'), '/root');
    expect(socket.writes).toHaveLength(0);

    await turn();
    expect(socket.writes).toHaveLength(1);
    expect(socket.requests()).toEqual(['1 create2 /a', '2 getChildren2 /root/a']);

    output.send(3, get('/b'), '');
    await turn();
    expect(socket.writes).toHaveLength(2);
    expect(socket.requests()).toHaveLength(3);
  });

  it('does not touch what a slow socket still holds', async () => {
    const socket = new FakeSocket();
    const output = new FrameOutput(socket, OPEN);
    socket.blocked = true;
    for (let xid = 1; xid <= 20; xid += 1) {
      output.send(xid, set(`/node-${xid}`, Buffer.alloc(1000, xid), -1), '');
      await turn();
    }
    socket.drain();

    expect(socket.requests()).toEqual(Array.from({ length: 20 }, (_, at) => `${at + 1} setData /node-${at + 1}`));
  });

  it('uses the same memory again when the socket has taken everything', async () => {
    const socket = new FakeSocket();
    const output = new FrameOutput(socket, OPEN);
    for (let xid = 1; xid <= 3; xid += 1) {
      output.send(xid, get('/a'), '');
      await turn();
    }

    expect(new Set(socket.writes.map((bytes) => bytes.buffer)).size).toBe(1);
  });

  it('refuses a frame that servers do not accept, and sends what is before and behind it', async () => {
    const socket = new FakeSocket();
    const output = new FrameOutput(socket, OPEN);
    const half = Buffer.alloc(600_000);

    expect(output.send(1, get('/before'), '')).toBe(true);
    expect(output.send(2, set('/big', Buffer.alloc(1_048_575)), '')).toBe(false);
    expect(output.send(3, create('/big', 'persistent', Buffer.alloc(50_000_000)), '')).toBe(false);
    expect(output.send(4, multi([set('/a', half), create('/b', 'persistent', half)]), '')).toBe(false);
    expect(output.send(5, get(`/${'x'.repeat(1_048_000)}`), '')).toBe(false);
    expect(output.send(6, set('/fits', Buffer.alloc(1_000_000)), '')).toBe(true);
    expect(output.send(7, get('/behind'), '')).toBe(true);

    await turn();
    expect(socket.requests()).toEqual(['1 getData /before', '6 setData /fits', '7 getData /behind']);
  });

  it('sends nothing of a request that cannot be written down', async () => {
    const socket = new FakeSocket();
    const output = new FrameOutput(socket, OPEN);
    output.send(1, get('/before'), '');
    expect(() => output.send(2, set('/a', new Uint8Array(), 2 ** 40), '')).toThrow('out of range');
    output.send(3, get('/behind'), '');
    await turn();

    expect(socket.requests()).toEqual(['1 getData /before', '3 getData /behind']);
  });

  it('writes nothing to a socket that was destroyed', async () => {
    const socket = new FakeSocket();
    const output = new FrameOutput(socket, OPEN);
    output.send(1, get('/a'), '');
    socket.destroyed = true;
    await turn();

    expect(socket.writes).toHaveLength(0);
  });

  it('lets frames leave at once when it is told to, and says when the kernel has them', async () => {
    const socket = new FakeSocket();
    const output = new FrameOutput(socket, OPEN);
    expect(output.leave()).toBeUndefined();
    output.send(1, get('/a'), '');
    expect(output.leave()).toBeUndefined();
    expect(socket.requests()).toEqual(['1 getData /a']);

    socket.blocked = true;
    output.send(2, get('/b'), '');
    let hasLeft = false;
    const leaving = output.leave()?.then(() => (hasLeft = true));
    await turn();
    expect(hasLeft).toBe(false);
    socket.drain();
    await leaving;
    expect(socket.requests()).toEqual(['1 getData /a', '2 getData /b']);

    output.send(3, get('/c'), '');
    socket.destroyed = true;
    expect(output.leave()).toBeUndefined();
  });

  it('begins with the handshake', async () => {
    const socket = new FakeSocket();
    const output = new FrameOutput(socket, OPEN);
    output.handshake({ lastZxid: 5n, timeoutMs: 1000, sessionId: 7n, password: new Uint8Array(16) });
    output.send(1, get('/a'), '');
    await turn();

    const [handshake] = new FrameSplitter().push(Buffer.concat(socket.sent));
    expect(socket.writes).toHaveLength(1);
    expect(handshake === undefined ? 0n : bodyOf(handshake).readBigInt64BE(16)).toBe(7n);
  });
});
