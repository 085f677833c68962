import { connect, type Socket } from 'node:net';
import { bodyOf, frameOf, FrameSplitter } from '../../support/proxy/frames.js';
import { opcodeOf } from '../../support/proxy/opcodes.js';

/** ZooKeeper's flag for a node that goes with its session. */
const EPHEMERAL = 1;

export interface RawReply {
  xid: number;
  zxid: bigint;
  errorCode: number;
  body: Buffer;
}

interface Waiter {
  resolve(frame: Buffer): void;
  reject(reason: Error): void;
}

/** The least that can hold a session: one socket, replies in the order of requests. Knows nothing of `lib`. */
export class RawClient {
  sessionId = 0n;
  password = Buffer.alloc(16);
  timeoutMs = 0;
  readonly notifications: { type: number; path: string }[] = [];
  /** The sizes of what the socket gave at once. */
  readonly chunkSizes: number[] = [];
  readonly closed: Promise<void>;
  private readonly waiters: Waiter[] = [];
  private readonly splitter = new FrameSplitter();
  private readonly notified = new Set<() => void>();
  private lastXid = 0;

  constructor(readonly socket: Socket) {
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        resolve();
        for (const waiter of this.waiters.splice(0)) waiter.reject(new Error('Connection closed.'));
      });
    });
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      this.chunkSizes.push(chunk.length);
      for (const frame of this.splitter.push(chunk)) this.receive(frame);
    });
  }

  /** Opens a session, or offers an old one; `timeoutMs` of the result is 0 when that has expired. */
  async handshake(sessionTimeoutMs: number, old?: { sessionId: bigint; password: Buffer }): Promise<this> {
    const body = Buffer.alloc(4 + 8 + 4 + 8 + 4 + 16 + 1);
    body.writeInt32BE(sessionTimeoutMs, 12);
    body.writeBigInt64BE(old?.sessionId ?? 0n, 16);
    body.writeInt32BE(16, 24);
    old?.password.copy(body, 28);
    const answer = bodyOf(await this.exchange(frameOf(body)));
    this.timeoutMs = answer.readInt32BE(4);
    this.sessionId = answer.readBigInt64BE(8);
    this.password = Buffer.from(answer.subarray(20, 36));
    return this;
  }

  async ping(): Promise<void> {
    await this.exchange(frameOf(header(-2, opcodeOf('ping'))));
  }

  create(path: string, { ephemeral = false, data = '' } = {}): Promise<RawReply> {
    return this.request('create', text(path), text(data), openAcl(), int(ephemeral ? EPHEMERAL : 0));
  }

  delete(path: string): Promise<RawReply> {
    return this.request('delete', text(path), int(-1));
  }

  exists(path: string, watch = false): Promise<RawReply> {
    return this.request('exists', text(path), Buffer.from([watch ? 1 : 0]));
  }

  getData(path: string): Promise<RawReply> {
    return this.request('getData', text(path), Buffer.from([0]));
  }

  setData(path: string, data: string): Promise<RawReply> {
    return this.request('setData', text(path), text(data), int(-1));
  }

  multiCreate(...paths: string[]): Promise<RawReply> {
    const operations = paths.flatMap((path) => [
      multiHeader(opcodeOf('create'), false),
      text(path),
      text(''),
      openAcl(),
      int(0),
    ]);
    return this.request('multi', ...operations, multiHeader(-1, true));
  }

  async request(name: Parameters<typeof opcodeOf>[0], ...fields: Buffer[]): Promise<RawReply> {
    this.lastXid += 1;
    const frame = await this.exchange(frameOf(Buffer.concat([header(this.lastXid, opcodeOf(name)), ...fields])));
    const body = bodyOf(frame);
    return {
      xid: body.readInt32BE(0),
      zxid: body.readBigInt64BE(4),
      errorCode: body.readInt32BE(12),
      body: body.subarray(16),
    };
  }

  authenticate(scheme: string, credential: string): Promise<RawReply> {
    return this.request('auth', int(0), text(scheme), text(credential));
  }

  /** Gives all rights to this digest id (`user:hash`) alone; without one to everybody. */
  setAcl(path: string, owner?: string): Promise<RawReply> {
    return this.request('setACL', text(path), owner === undefined ? openAcl() : aclOf('digest', owner), int(-1));
  }

  /** The access rights of a node, each as `31:digest:user:hash`. */
  async acl(path: string): Promise<string[]> {
    const { errorCode, body } = await this.request('getACL', text(path));
    if (errorCode !== 0) throw new Error(`getACL ${path} was refused (${errorCode}).`);
    const entries: string[] = [];
    let at = 4;
    const readText = (): string => {
      const end = at + 4 + body.readInt32BE(at);
      const value = body.toString('utf8', at + 4, end);
      at = end;
      return value;
    };
    while (entries.length < body.readInt32BE(0)) {
      const permissions = body.readInt32BE(at);
      at += 4;
      entries.push(`${permissions}:${readText()}:${readText()}`);
    }
    return entries;
  }

  /** Resolves when `count` notifications have come. */
  async notificationsReach(count: number): Promise<void> {
    while (this.notifications.length < count) await new Promise<void>((resolve) => this.notified.add(resolve));
  }

  destroy(): void {
    this.socket.destroy();
  }

  private exchange(frame: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.waiters.push({ resolve, reject });
      this.socket.write(frame);
    });
  }

  private receive(frame: Buffer): void {
    const body = bodyOf(frame);
    if (body.readInt32BE(0) !== -1) {
      this.waiters.shift()?.resolve(frame);
      return;
    }
    const end = 28 + body.readInt32BE(24);
    this.notifications.push({ type: body.readInt32BE(16), path: body.toString('utf8', 28, end) });
    for (const listener of this.notified) listener();
    this.notified.clear();
  }
}

/** A connection without a handshake. */
export function rawConnection(port: number): RawClient {
  return new RawClient(connect({ host: '127.0.0.1', port, noDelay: true }));
}

/** A connection with a session of its own. */
export function rawSession(port: number, sessionTimeoutMs = 5_000): Promise<RawClient> {
  return rawConnection(port).handshake(sessionTimeoutMs);
}

function header(xid: number, opcode: number): Buffer {
  return Buffer.concat([int(xid), int(opcode)]);
}

function multiHeader(opcode: number, done: boolean): Buffer {
  return Buffer.concat([int(opcode), Buffer.from([done ? 1 : 0]), int(-1)]);
}

function openAcl(): Buffer {
  return aclOf('world', 'anyone');
}

function aclOf(scheme: string, id: string): Buffer {
  return Buffer.concat([int(1), int(31), text(scheme), text(id)]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([int(bytes.length), bytes]);
}

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
