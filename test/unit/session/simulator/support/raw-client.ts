import type {
  HandshakeReply,
  Link,
  LinkListener,
  LinkRequest,
  ReplyBody,
  Server,
} from '../../../../../lib/session/core/link.js';
import { AUTH_XID, PING_XID, SET_WATCHES_XID } from '../../../../../lib/session/core/link.js';
import type { Reply, ReplyTo, Request, WatchEvent, Watcher } from '../../../../../lib/session/requests.js';
import type { SimulatedProcess } from '../../../../../lib/session/simulator/simulated-process.js';
import type { SimulatedWorld } from '../../../../support/simulation/simulated-world.js';

/** Asks for a watch; the events are in `RawClient.events`. */
export const WATCH: Watcher = { onWatchEvent: () => undefined };

export const NEW_SESSION: HandshakeReply = { sessionId: 0n, password: new Uint8Array(16), timeoutMs: 0 };

export class Refused extends Error {
  constructor(readonly errorNumber: number) {
    super(`refused with ${errorNumber}`);
  }
}

interface Pending {
  readonly request: LinkRequest;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

/** The barest client of a link: no state machine, no pings of its own. Keeps a log of all that it is told. */
export class RawClient implements LinkListener {
  readonly log: string[] = [];
  readonly events: WatchEvent[] = [];
  granted: HandshakeReply | undefined;
  closed: Error | undefined;
  isOpen = false;
  /** Called in the middle of `onReply`. */
  afterReply: (() => void) | undefined;
  readonly link: Link;
  readonly #pending = new Map<number, Pending[]>();
  #xid = 0;

  constructor(
    readonly world: SimulatedWorld,
    readonly process: SimulatedProcess,
    address: Server,
  ) {
    this.link = process.dialer().dial(address, this);
  }

  /** Connects to a server and opens a session, or offers the one that `session` names. */
  static async connect(
    world: SimulatedWorld,
    name: string,
    serverId = 1,
    { session = NEW_SESSION, timeoutMs = 4 * world.ensemble.settings.tickMs, lastZxid = 0n } = {},
  ): Promise<RawClient> {
    const client = RawClient.dial(world, name, serverId);
    await world.runUntil(() => client.isOpen || client.closed !== undefined, 10_000);
    client.link.handshake({ sessionId: session.sessionId, password: session.password, timeoutMs, lastZxid });
    await world.runUntil(() => client.granted !== undefined || client.closed !== undefined, 10_000);
    return client;
  }

  static dial(world: SimulatedWorld, name: string, serverId = 1): RawClient {
    return new RawClient(world, world.process(name), world.servers[serverId - 1] ?? { host: 'nobody', port: 1 });
  }

  get sessionId(): bigint {
    return this.granted?.sessionId ?? 0n;
  }

  send(request: LinkRequest, chroot = ''): Promise<Reply> {
    const xid = this.#xidOf(request);
    return new Promise((resolve, reject) => {
      this.#pending.set(xid, [...(this.#pending.get(xid) ?? []), { request, resolve, reject }]);
      if (!this.link.send(xid, request, chroot)) reject(new Error('the frame is too large'));
    });
  }

  /** Lets time pass until the answer is there. */
  async ask<R extends Request>(request: R): Promise<ReplyTo<R>> {
    return (await this.world.settle(this.send(request), 60_000)) as ReplyTo<R>;
  }

  async control(request: LinkRequest): Promise<Reply> {
    return this.world.settle(this.send(request), 60_000);
  }

  /** The number of the error, or 0. */
  async errorOf(request: LinkRequest): Promise<number> {
    try {
      await this.control(request);
      return 0;
    } catch (error) {
      if (error instanceof Refused) return error.errorNumber;
      throw error;
    }
  }

  /** Pings every so often, for as long as the link stands. */
  keepPinging(everyMs: number): void {
    if (this.closed !== undefined) return;
    this.send({ op: 'ping' }).catch((error: unknown) => this.log.push(String(error)));
    this.process.clock.setTimer(everyMs, () => this.keepPinging(everyMs));
  }

  onOpen(): void {
    this.isOpen = true;
    this.#note('open');
  }

  onHandshake(reply: HandshakeReply): void {
    this.granted = reply;
    this.#note(`handshake ${reply.sessionId} ${reply.timeoutMs}`);
  }

  onActivity(): void {
    this.#note('activity');
  }

  onReply(xid: number, errorNumber: number, body: ReplyBody): void {
    const pending = this.#pending.get(xid)?.shift();
    if (pending === undefined) throw new Error(`a reply to nothing: ${xid}`);
    this.#note(`reply ${pending.request.op} ${errorNumber}`);
    this.afterReply?.();
    if (errorNumber !== 0) {
      pending.reject(new Refused(errorNumber));
      return;
    }
    try {
      pending.resolve(body.read(pending.request));
    } catch (error) {
      pending.reject(error as Error);
    }
  }

  onEvent(event: WatchEvent): void {
    this.events.push(event);
    this.#note(`event ${event.type} ${event.path}`);
  }

  onClosed(cause: Error): void {
    this.closed = cause;
    this.#note(`closed ${cause.message}`);
    for (const waiting of this.#pending.values()) {
      for (const { reject } of waiting) reject(cause);
    }
    this.#pending.clear();
  }

  #note(line: string): void {
    this.log.push(`${this.process.clock.now()} ${line}`);
  }

  #xidOf(request: LinkRequest): number {
    if (request.op === 'ping') return PING_XID;
    if (request.op === 'auth') return AUTH_XID;
    if (request.op === 'setWatches') return SET_WATCHES_XID;
    this.#xid += 1;
    return this.#xid;
  }
}
