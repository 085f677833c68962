import { createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { eachOf, untroubled, type Directions, type Flow } from './conditions.js';
import { Connection, type Target } from './connection.js';
import { blindInspector, type InspectorFactory } from './inspector.js';
import { onFreePort } from './ports.js';

export interface LinkOptions {
  /** Where connections lead: a port of this machine, or somewhere else. */
  target: number | Target;
  /** Where to listen on 127.0.0.1. @default a free one */
  port?: number;
  /** How long to go on dialling a target that refuses. @default 0 */
  connectRetryMs?: number;
}

export interface Traffic {
  /** Connections accepted so far (refused ones are not). */
  connections: number;
  /** Bytes delivered, not only taken in. */
  bytesToServer: number;
  bytesToClient: number;
}

export interface RefuseOptions {
  /** `closed`: nothing listens, ECONNREFUSED. `reset`: accepted, then reset at once. @default 'closed' */
  how?: 'closed' | 'reset';
}

/** A TCP proxy and the troubles a network can make: they apply to the connections there are and to those that come. */
export class Link {
  private readonly open = new Set<Connection>();
  private readonly conditions = { toServer: untroubled(), toClient: untroubled() };
  private traffic: Traffic = { connections: 0, bytesToServer: 0, bytesToClient: 0 };
  private listener: Server | undefined;
  private resetsNew = false;
  private lastConnectionId = 0;
  private target: Target;

  constructor(
    readonly port: number,
    private readonly options: LinkOptions,
    private readonly inspect: InspectorFactory,
  ) {
    this.target = targetOf(options.target);
  }

  /** `127.0.0.1:port`, for a connect string. */
  get connect(): string {
    return `127.0.0.1:${this.port}`;
  }

  get openConnections(): number {
    return this.open.size;
  }

  /** Back to a link without trouble: accepts, delivers at once, and delivers what was stalled. */
  async pass(): Promise<void> {
    Object.assign(this.conditions.toServer, untroubled());
    Object.assign(this.conditions.toClient, untroubled());
    this.resetsNew = false;
    this.conditionsChanged();
    await this.listen();
  }

  /** A partition: nothing arrives, no end of a connection either; all of it is delivered by `pass()`. */
  stall(directions: Directions = 'both'): void {
    this.setFlow(directions, 'stall');
  }

  /** A black hole: bytes are lost. Connections that lost some are cut by `pass()`. New ones are accepted, into silence. */
  swallow(directions: Directions = 'both'): void {
    this.setFlow(directions, 'swallow');
  }

  /** `stall`, `swallow`, or only that part of `pass`, for one direction or both. */
  setFlow(directions: Directions, flow: Flow): void {
    for (const direction of eachOf(directions)) this.conditions[direction].flow = flow;
    this.conditionsChanged();
  }

  /** Lets everything arrive later by that much, in order. Without a direction it stays as it is. */
  delay(delays: { toServerMs?: number; toClientMs?: number }): void {
    const { conditions } = this;
    if (delays.toServerMs !== undefined) conditions.toServer.delayMs = delays.toServerMs;
    if (delays.toClientMs !== undefined) conditions.toClient.delayMs = delays.toClientMs;
  }

  /** Delivers byte by byte, each in a write of its own. */
  dribble(directions: Directions = 'both'): void {
    for (const direction of eachOf(directions)) this.conditions[direction].dribble = true;
  }

  /** Delivers in one write whatever came in within `windowMs` of its first byte. */
  coalesce(windowMs: number, directions: Directions = 'both'): void {
    for (const direction of eachOf(directions)) this.conditions[direction].coalesceMs = windowMs;
  }

  /** Ends the connections there are, on both sides; new ones are welcome. */
  cut(): void {
    for (const connection of [...this.open]) connection.cut();
  }

  /** As `cut`, with a TCP reset (ECONNRESET) instead of an end. */
  reset(): void {
    for (const connection of [...this.open]) connection.reset();
  }

  /** Takes no new connections; those there are go on. */
  async refuse({ how = 'closed' }: RefuseOptions = {}): Promise<void> {
    if (how === 'reset') {
      this.resetsNew = true;
      await this.listen();
    } else this.stopListening();
  }

  /** Leads new connections somewhere else; those there are stay where they are. */
  retarget(target: number | Target): void {
    this.target = targetOf(target);
  }

  /** Writes bytes of the test's own into every open connection, for answers no server would give. */
  inject(directions: Directions, bytes: Buffer): void {
    for (const connection of this.open) connection.inject(directions, bytes);
  }

  counts(): Traffic {
    return { ...this.traffic };
  }

  resetCounts(): void {
    this.traffic = { connections: 0, bytesToServer: 0, bytesToClient: 0 };
  }

  async stop(): Promise<void> {
    this.stopListening();
    this.reset();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Begins to accept; part of `startLink` and `pass`. */
  async listen(): Promise<void> {
    if (this.listener !== undefined) return;
    const listener = createServer({ allowHalfOpen: true }, (client) => this.accept(client));
    listener.listen(this.port, '127.0.0.1');
    await once(listener, 'listening');
    // A test that fails before it stops its proxy must not keep the runner waiting for ever.
    listener.unref();
    this.listener = listener;
  }

  private stopListening(): void {
    // Closes the listening socket at once; the callback would wait for the connections, which go on.
    this.listener?.close();
    this.listener = undefined;
  }

  private accept(client: Socket): void {
    if (this.resetsNew) {
      client.resetAndDestroy();
      return;
    }
    this.lastConnectionId += 1;
    this.traffic.connections += 1;
    const connection = new Connection(client, {
      id: this.lastConnectionId,
      target: this.target,
      conditions: this.conditions,
      inspect: this.inspect,
      connectRetryMs: this.options.connectRetryMs ?? 0,
      onBytes: (direction, byteCount) => {
        this.traffic[direction === 'toServer' ? 'bytesToServer' : 'bytesToClient'] += byteCount;
      },
      onClosed: (closed) => this.open.delete(closed),
    });
    this.open.add(connection);
  }

  private conditionsChanged(): void {
    for (const connection of [...this.open]) connection.conditionsChanged();
  }
}

/** Starts a link that knows nothing of what passes through it. */
export async function startLink(options: LinkOptions, inspect: InspectorFactory = blindInspector): Promise<Link> {
  return onFreePort(options.port, async (port) => {
    const link = new Link(port, options, inspect);
    await link.listen();
    return link;
  });
}

function targetOf(target: number | Target): Target {
  return typeof target === 'number' ? { host: '127.0.0.1', port: target } : target;
}
