import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ThreadClient, type ThreadClientListener } from '../../../lib/session/native/thread.js';
import { nativePackage } from '../../support/native/package-is-there.js';
import { eventually } from '../../support/process/eventually.js';

/** Longer than the test: only the thread itself may give these clients up. */
const TIMEOUT_MS = 60_000;

/** A machine with much to do takes its time until so many turns are made. */
const LATE = { withinMs: 30_000 };
const SPUN = expect.stringContaining('a child process has inherited a socket');

/** A client of the package that is replaced whenever its connection has ended. */
class ReplacedClient implements ThreadClientListener {
  readonly reasons: string[] = [];
  #client: ThreadClient;

  constructor(readonly connect: string) {
    this.#client = this.#open();
  }

  onUp(): void {}
  onAnswer(): void {}
  onEvent(): void {}
  onExpired(): void {}
  onSessionClosed(): void {}

  onDown({ message }: Error): void {
    this.reasons.push(message);
    this.#client.leave();
    this.#client = this.#open();
  }

  leave(): void {
    this.#client.leave();
  }

  #open(): ThreadClient {
    const client = new ThreadClient(nativePackage(), this);
    client.open(this.connect, TIMEOUT_MS, undefined);
    return client;
  }
}

describe("A child process that inherits a socket of the client 'native'", () => {
  let server: Server;
  let connect: string;
  let child: ChildProcess | undefined;
  const clients: ReplacedClient[] = [];
  /** The connections of which a handshake has come. */
  let greeted: readonly Socket[];
  beforeEach(async () => {
    const mine: Socket[] = [];
    greeted = mine;
    server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.once('data', () => mine.push(socket));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    connect = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.leave();
    child?.kill();
    for (const socket of greeted) socket.destroy();
    server.close();
  });

  async function open(): Promise<ReplacedClient> {
    const [client, before] = [new ReplacedClient(connect), greeted.length];
    clients.push(client);
    await eventually('a handshake has come', () => greeted.length > before);
    return client;
  }

  async function startChild(): Promise<void> {
    child = spawn('sleep', ['600'], { stdio: 'ignore' });
    await once(child, 'spawn');
  }

  it('does not keep the next handshake back: the package has closed that socket, and the next one has its number', async () => {
    const client = await open();
    await startChild();

    greeted[0]!.destroy();

    await eventually('the next handshake has come', () => greeted.length > 1, LATE);
    expect(client.reasons).toEqual([SPUN]);
  }, 60_000);

  it('does not keep a processor busy: the thread begins anew, with the clients that it has', async () => {
    const [left, stays] = [await open(), await open()];
    await startChild();
    left.leave();
    await new Promise((resolve) => setImmediate(resolve));

    greeted[0]!.destroy();

    await eventually('the other one comes again', () => greeted.length > 2, LATE);
    expect(stays.reasons).toEqual([SPUN]);
  }, 60_000);
});
