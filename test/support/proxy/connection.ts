import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { eachOf, type Conditions, type Direction, type Directions } from './conditions.js';
import type { Inspector, InspectorFactory } from './inspector.js';
import { Lane } from './lane.js';

const RETRY_EVERY_MS = 25;
const LINGER_MS = 1_000;

export interface Target {
  host: string;
  port: number;
}

export interface ConnectionSettings {
  id: number;
  target: Target;
  conditions: Readonly<Record<Direction, Conditions>>;
  inspect: InspectorFactory;
  /** How long to go on dialling a target that refuses, before the client is cut off. */
  connectRetryMs: number;
  onBytes(direction: Direction, byteCount: number): void;
  onClosed(connection: Connection): void;
}

/** One client's connection through a link: two sockets and a lane each way. */
export class Connection {
  readonly id: number;
  private readonly lanes: Record<Direction, Lane>;
  private readonly inspector: Inspector;
  private readonly dialUntil: number;
  private server: Socket | undefined;
  private redial: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly client: Socket,
    private readonly settings: ConnectionSettings,
  ) {
    this.id = settings.id;
    this.dialUntil = performance.now() + settings.connectRetryMs;
    this.lanes = { toServer: this.newLane('toServer'), toClient: this.newLane('toClient') };
    this.inspector = settings.inspect({
      connectionId: settings.id,
      answer: (unit) => this.lanes.toClient.push(unit),
    });
    client.setNoDelay(true);
    client.unref();
    this.lanes.toClient.attach(client);
    this.listen(client, 'toServer');
  }

  /** To be told after the link's conditions changed. */
  conditionsChanged(): void {
    const { toServer, toClient } = this.settings.conditions;
    // A stream with a gap is dead; it is told when the link would let it go on.
    const dead =
      (this.lanes.toServer.hasGap && toServer.flow === 'pass') ||
      (this.lanes.toClient.hasGap && toClient.flow === 'pass');
    if (dead) {
      this.cut();
      return;
    }
    this.lanes.toServer.pump();
    this.lanes.toClient.pump();
  }

  /** Writes bytes of the test's own into the stream, behind what is on its way. */
  inject(directions: Directions, bytes: Buffer): void {
    for (const direction of eachOf(directions)) this.lanes[direction].push({ bytes });
  }

  /** Ends both sides at once; what was already written still arrives. */
  cut(): void {
    if (this.closed) return;
    this.closed = true;
    clearTimeout(this.redial);
    this.lanes.toServer.stop();
    this.lanes.toClient.stop();
    this.inspector.closed?.();
    endSoon(this.client);
    if (this.server !== undefined) endSoon(this.server);
    this.settings.onClosed(this);
  }

  /** Ends both sides with a reset, whatever is on its way. */
  reset(): void {
    resetSocket(this.client);
    if (this.server !== undefined) resetSocket(this.server);
    this.cut();
  }

  private newLane(direction: Direction): Lane {
    return new Lane(this.settings.conditions[direction], {
      wanted: () => this.dial(),
      delivered: (byteCount) => this.settings.onBytes(direction, byteCount),
      cut: () => this.cut(),
    });
  }

  /** Reads one side into the lane that leads to the other. */
  private listen(source: Socket, direction: Direction): void {
    const lane = this.lanes[direction];
    source.on('data', (chunk: Buffer) => {
      if (this.closed) return;
      for (const unit of this.inspector[direction](chunk)) lane.push(unit);
    });
    source.on('end', () => lane.end());
    // A reset is passed on as an ordinary end: the other side only sees that the connection is over.
    source.on('error', () => lane.end());
    source.on('close', () => this.closeWhenBothAre());
  }

  private closeWhenBothAre(): void {
    const serverGone = this.server === undefined ? this.client.destroyed : this.server.destroyed;
    if (this.client.destroyed && serverGone) this.cut();
  }

  /** Only when there is something to deliver: behind a black hole the server does not hear of new connections either. */
  private dial(): void {
    if (this.server !== undefined || this.redial !== undefined) return;
    const { host, port } = this.settings.target;
    const server = connect({ host, port, allowHalfOpen: true, noDelay: true });
    server.unref();
    this.server = server;
    const refused = (): void => {
      this.server = undefined;
      if (this.closed || this.client.destroyed || performance.now() >= this.dialUntil) this.cut();
      else this.redial = setTimeout(() => this.dialAgain(), RETRY_EVERY_MS);
    };
    server.once('error', refused);
    server.once('connect', () => {
      server.off('error', refused);
      this.listen(server, 'toClient');
      this.lanes.toServer.attach(server);
    });
  }

  private dialAgain(): void {
    this.redial = undefined;
    this.dial();
  }
}

/** What was written still arrives, unless the other side does not read. */
function endSoon(socket: Socket): void {
  socket.setTimeout(LINGER_MS, () => socket.destroy());
  socket.destroySoon();
}

/** A reset of a socket that is already shutting down leaves its handle open for good, and the process spinning at exit. */
function resetSocket(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
