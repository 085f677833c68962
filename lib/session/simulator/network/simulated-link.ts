import type { DialOptions, Handshake, Link, LinkListener, LinkRequest } from '../../core/link.js';
import { serverError, MAX_ANSWER_BYTES, TooLargeAnswerError } from '../../errors.js';
import { isNumberedAfter } from '../../numbered-names.js';
import type { Children, ListRequest } from '../../requests.js';
import { ClientConnection } from '../server/client-connection.js';
import type { Ensemble, Holdable } from '../server/ensemble.js';
import { messageText, type ReplyMessage, type ToClient, type ToServer } from '../server/messages.js';
import type { SimulatedServer } from '../server/server.js';
import type { Host } from '../time/host.js';
import { OK, ROLLED_BACK } from '../tree/error-numbers.js';
import { Channel } from './channel.js';
import { requestUnder } from './chroot.js';
import type { ClientNetwork } from './client-network.js';
import { frameBytes, listBytes, MAX_FRAME_BYTES } from './frame-size.js';
import { drawLatency } from './latency.js';
import { clientEndpoint, serverEndpoint } from './partition.js';

/** The client that a link belongs to. */
export interface SimulatedClient {
  readonly ensemble: Ensemble;
  readonly host: Host;
  readonly network: ClientNetwork;
}

interface LinkSettings extends DialOptions {
  readonly listener: LinkListener;
}

/** One connection of a simulated client to a simulated server. */
export class SimulatedLink implements Link, Holdable {
  readonly #ensemble: Ensemble;
  readonly #host: Host;
  readonly #network: ClientNetwork;
  readonly #server: SimulatedServer;
  readonly #listener: LinkListener;
  readonly #toServer: Channel<ToServer>;
  readonly #toClient: Channel<ToClient>;
  #connection: ClientConnection | undefined;
  #lastZxid = 0n;
  #offersSession = false;
  /** Whether the server must first say that it serves. */
  #asksFirst: boolean;
  #isOver = false;

  constructor({ ensemble, host, network }: SimulatedClient, server: SimulatedServer, settings: LinkSettings) {
    this.#ensemble = ensemble;
    this.#host = host;
    this.#network = network;
    this.#server = server;
    this.#listener = settings.listener;
    this.#asksFirst = settings.asksFirst ?? false;
    const { timeline } = ensemble;
    this.#toServer = new Channel(
      timeline,
      () => this.#drawLatency(),
      (messages) => this.#atServer(messages),
    );
    this.#toClient = new Channel(
      timeline,
      () => this.#drawLatency(),
      (messages) => this.#atClient(messages),
    );
    ensemble.clientLinks.add(this);
    network.links.add(this);
    this.refreshReach();
    this.#toServer.send({ kind: 'connect' });
  }

  get lastZxid(): bigint {
    return this.#lastZxid;
  }

  get server(): SimulatedServer {
    return this.#server;
  }

  handshake(handshake: Handshake): void {
    this.#offersSession = handshake.sessionId !== 0n;
    this.#toServer.send({ kind: 'handshake', handshake });
  }

  send(xid: number, asked: LinkRequest, chroot: string): boolean {
    const request = requestUnder(chroot, this.#network.acl, asked);
    if (frameBytes(request) > MAX_FRAME_BYTES) return false;
    if (this.#isOver) return true;
    if (this.#network.losesNow('lose-request', request.op)) this.cut('the connection was reset');
    else this.#toServer.send({ kind: 'request', xid, request });
    return true;
  }

  flush(): undefined {
    // Every frame is on its way as soon as it is sent.
    return undefined;
  }

  destroy(): void {
    if (this.#isOver) return;
    this.#end();
    this.#toClient.cut();
    this.#toServer.send({ kind: 'closed' });
  }

  /** Breaks the connection. Messages under way are lost, and both ends are settings. */
  cut(cause: string): void {
    if (this.#isOver) return;
    this.#toServer.cut();
    this.#toClient.cut();
    this.#forget();
    const connection = this.#connection;
    const serverHost = this.#server.host;
    // The ends are told in later events, never from within the call that cut the connection.
    this.#ensemble.timeline.after(0, () => serverHost.deliver(() => connection?.receive({ kind: 'closed' })));
    this.#ensemble.timeline.after(0, () => this.#host.deliver(() => this.#close(cause)));
  }

  refreshReach(): void {
    const canTalk = this.#ensemble.partition.canTalk(
      clientEndpoint(this.#network.clientName),
      serverEndpoint(this.#server.id),
    );
    this.#toServer.hold(!canTalk || this.#network.isHeld('to-server'));
    this.#toClient.hold(!canTalk || this.#network.isHeld('to-client'));
  }

  #atServer(messages: readonly ToServer[]): void {
    for (const message of messages) {
      if (message.kind === 'connect') {
        this.#accept();
        continue;
      }
      const connection = this.#connection;
      this.#trace('->', message);
      this.#server.host.deliver(() => connection?.receive(message));
      if (message.kind === 'closed') this.#forget();
    }
  }

  #accept(): void {
    // The operating system accepts connections, so a frozen server has them accepted, too.
    if (this.#network.refusesConnections || !this.#server.host.alive) {
      this.#toClient.send({ kind: 'closed', cause: 'the connection was refused' });
      return;
    }
    this.#connection = new ClientConnection(this.#server, this.#network.clientName, (message) => this.#reply(message));
    this.#server.connections.add(this.#connection);
    this.#toClient.send({ kind: 'connected' });
  }

  #reply(message: ToClient): void {
    const op = message.kind === 'handshake' && this.#offersSession ? 'reattach' : undefined;
    const lost = message.kind === 'reply' ? message.op : op;
    if (lost !== undefined && this.#network.losesNow('lose-reply', lost)) {
      this.cut('the connection was reset');
      return;
    }
    this.#toClient.send(message, message.kind === 'event' ? this.#network.watchDelayMs : 0);
  }

  #atClient(messages: readonly ToClient[]): void {
    this.#host.deliver(() => {
      if (this.#isOver) return;
      if (messages.some((message) => isHeard(message))) {
        this.#listener.onActivity();
      }
      for (const message of messages) {
        // The listener may destroy this link in any of its calls.
        if (this.#isOver) return;
        this.#trace('<-', message);
        this.#deliver(message);
      }
    });
  }

  #deliver(message: ToClient): void {
    switch (message.kind) {
      case 'connected':
        if (this.#asksFirst) this.#toServer.send({ kind: 'ask' });
        else this.#listener.onOpen();
        return;
      case 'service':
        this.#asksFirst = false;
        if (message.serves) {
          this.#listener.onServing?.();
          this.#toServer.send({ kind: 'connect' });
        } else this.#deliver({ kind: 'closed', cause: 'it says that it serves nobody now' });
        return;
      case 'handshake':
        this.#network.sessionId = message.reply.sessionId;
        this.#listener.onHandshake(message.reply);
        return;
      case 'event':
        this.#listener.onEvent(message.event);
        return;
      case 'reply':
        if (message.zxid > this.#lastZxid) this.#lastZxid = message.zxid;
        this.#listener.onReply(message.xid, message.errorNumber, { read: (request) => readReply(message, request) });
        return;
      case 'closed':
        this.#toServer.cut();
        this.#forget();
        this.#close(message.cause);
    }
  }

  #close(cause: string): void {
    if (this.#isOver) return;
    this.#end();
    this.#listener.onClosed(new Error(`Simulated server ${this.#server.id}: ${cause}`));
  }

  #end(): void {
    this.#isOver = true;
    this.#network.links.delete(this);
  }

  /** Lets the ensemble forget this link: nothing is under way on it any more. */
  #forget(): void {
    this.#ensemble.clientLinks.delete(this);
  }

  #drawLatency(): number {
    const { latencyMs } = this.#network;
    return latencyMs === undefined ? this.#ensemble.drawClientLatency() : drawLatency(latencyMs, this.#ensemble.random);
  }

  #trace(arrow: '->' | '<-', message: ToServer | ToClient): void {
    if (this.#ensemble.trace === undefined) return;
    const atMs = this.#ensemble.timeline.now();
    this.#ensemble.trace(`${atMs} ${this.#network.clientName} ${arrow} ${this.#server.id} ${messageText(message)}`);
  }
}

/** Whether the listener hears of this message, so that it is a sign of life. */
function isHeard({ kind }: ToClient): boolean {
  return kind !== 'connected' && kind !== 'closed' && kind !== 'service';
}

/** Reads a list as a client does that reads it from a wire: none that is too long, and only the wanted names. */
function readChildren({ children, stat }: Children, { path, numberedAfter }: ListRequest): Children {
  const bytes = listBytes(children);
  if (bytes > MAX_ANSWER_BYTES) throw new TooLargeAnswerError(path, children.length, bytes);
  if (numberedAfter === undefined) return { children, stat };
  return { children: children.filter((name) => isNumberedAfter(numberedAfter, name)), stat };
}

function readReply(message: ReplyMessage, request: LinkRequest): ReplyMessage['reply'] {
  const culprit = message.partErrors?.find((errorNumber) => errorNumber !== OK && errorNumber !== ROLLED_BACK);
  // One part caused the failure. The parts around it are only rolled back, which tells nothing.
  if (culprit === undefined)
    return request.op === 'list' ? readChildren(message.reply as Children, request) : message.reply;
  const index = message.partErrors?.indexOf(culprit) ?? -1;
  throw serverError(culprit, request.op, request.op === 'multi' ? request.parts[index]?.path : undefined);
}
