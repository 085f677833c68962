import type {
  Dialer,
  DialOptions,
  HandshakeReply,
  Link,
  LinkListener,
  LinkRequest,
  ReplyBody,
} from '../../lib/session/core/link.js';
import { serverError } from '../../lib/session/errors.js';
import type { Reply, ReplyTo, Request, WatchEvent } from '../../lib/session/requests.js';

interface Waiting {
  xid: number;
  request: LinkRequest;
  resolve: (reply: Reply) => void;
  reject: (reason: unknown) => void;
}

/** The least that can use a link: a session without reconnects, one promise for each request. */
export class OpenLink implements LinkListener {
  readonly link: Link;
  readonly events: WatchEvent[] = [];
  readonly connected: Promise<void>;
  readonly opened: Promise<HandshakeReply>;
  readonly closed: Promise<Error>;
  /** Names of all that was told, in order. */
  readonly told: string[] = [];
  readonly #waiting: Waiting[] = [];
  #connected: () => void = () => undefined;
  #opened: (reply: HandshakeReply) => void = () => undefined;
  #closed: (cause: Error) => void = () => undefined;
  #xid = 0;

  constructor(dialer: Dialer, host: string, port: number, options?: DialOptions) {
    this.connected = new Promise((resolve) => (this.#connected = resolve));
    this.opened = new Promise((resolve) => (this.#opened = resolve));
    this.closed = new Promise((resolve) => (this.#closed = resolve));
    this.link = dialer.dial({ host, port }, this, options);
    if (this.told.length > 0) throw new Error(`Told before dial had returned: ${this.told.join()}`);
  }

  request<R extends Request>(request: R): Promise<ReplyTo<R>> {
    return this.control(request) as Promise<ReplyTo<R>>;
  }

  control(request: LinkRequest): Promise<Reply> {
    this.#xid += 1;
    const xid = this.#xid;
    return new Promise((resolve, reject) => {
      if (this.link.send(xid, request, '')) this.#waiting.push({ xid, request, resolve, reject });
      else reject(new Error('too large'));
    });
  }

  onOpen(): void {
    this.told.push('open');
    this.link.handshake({ lastZxid: 0n, timeoutMs: 10_000, sessionId: 0n, password: new Uint8Array(16) });
    this.#connected();
  }

  onHandshake(reply: HandshakeReply): void {
    this.told.push('handshake');
    this.#opened(reply);
  }

  onActivity(): void {
    this.told.push('activity');
  }

  onReply(xid: number, errorNumber: number, body: ReplyBody): void {
    this.told.push('reply');
    const waiting = this.#waiting.shift();
    if (waiting?.xid !== xid) throw new Error(`Reply ${xid} out of order.`);
    try {
      if (errorNumber === 0) waiting.resolve(body.read(waiting.request));
      else waiting.reject(serverError(errorNumber, waiting.request.op, undefined));
    } catch (error) {
      waiting.reject(error);
    }
  }

  onEvent(event: WatchEvent): void {
    this.told.push('event');
    this.events.push(event);
  }

  onClosed(cause: Error): void {
    this.told.push('closed');
    this.#closed(cause);
    for (const { reject } of this.#waiting.splice(0)) reject(cause);
  }
}
