import {
  type Dialer,
  type DialOptions,
  type Handshake,
  type Link,
  type LinkListener,
  type LinkRequest,
  type ReplyBody,
  type Server,
  TOKEN_XID,
} from '../../../lib/session/core/link.js';
import type { Reply, WatchEvent } from '../../../lib/session/requests.js';

export interface SentRequest {
  readonly xid: number;
  readonly request: LinkRequest;
  readonly chroot: string;
}

export const PASSWORD = Uint8Array.from({ length: 16 }, (_, index) => index + 1);

/** A connection whose server is played by the test. */
export class ScriptedLink implements Link {
  readonly sent: SentRequest[] = [];
  /** Those of the client, as text. */
  readonly tokens: string[] = [];
  offer: Handshake | undefined;
  /** Whether the handshake was answered. */
  greeted = false;
  destroyed = false;
  lastZxid = 0n;
  stage: Link['stage'];
  /** Called for each request, after it was recorded. */
  onSend: (sent: SentRequest) => void = () => undefined;
  /** Requests of these operations are larger than servers accept. */
  readonly tooLarge = new Set<string>();
  #answered = 0;

  constructor(
    readonly server: Server,
    readonly listener: LinkListener,
    readonly asksFirst = false,
  ) {}

  handshake(handshake: Handshake): void {
    this.offer = handshake;
  }

  send(xid: number, request: LinkRequest, chroot: string): boolean {
    if (this.tooLarge.has(request.op)) return false;
    const sent = { xid, request, chroot };
    this.sent.push(sent);
    this.onSend(sent);
    return true;
  }

  sendToken(token: Uint8Array): void {
    this.tokens.push(Buffer.from(token).toString());
  }

  /** Answers the client's last token by another, or by an error number. */
  answerToken(answer: string | number): void {
    const errorNumber = typeof answer === 'number' ? answer : 0;
    const readToken = (): Uint8Array => Buffer.from(typeof answer === 'number' ? '' : answer);
    this.#hear(() => this.listener.onReply(TOKEN_XID, errorNumber, { read: () => undefined, readToken }));
  }

  /** What is sent counts as having left. */
  flush(): undefined {
    return undefined;
  }

  destroy(): void {
    this.destroyed = true;
  }

  open(): void {
    if (!this.destroyed) this.listener.onOpen();
  }

  /** Says so, when asked first. */
  serves(): void {
    if (!this.destroyed) this.listener.onServing?.();
  }

  /** Opens, and grants the offered session or a new one. */
  grant(timeoutMs: number, sessionId = 0x1234n): void {
    if (this.offer === undefined) this.open();
    const offered = this.offer?.sessionId ?? 0n;
    this.greeted = true;
    this.#hear(() =>
      this.listener.onHandshake({ timeoutMs, sessionId: offered === 0n ? sessionId : offered, password: PASSWORD }),
    );
  }

  /** Opens, and grants another session than the one that was offered. */
  grantAnother(timeoutMs: number, sessionId: bigint): void {
    if (this.offer === undefined) this.open();
    this.#hear(() => this.listener.onHandshake({ timeoutMs, sessionId, password: PASSWORD }));
  }

  /** Opens, and says that the offered session has ended. */
  expire(): void {
    if (this.offer === undefined) this.open();
    this.#hear(() => this.listener.onHandshake({ timeoutMs: 0, sessionId: 0n, password: new Uint8Array(16) }));
  }

  /** Before the handshake was answered this is a refusal. */
  hangUp(cause = new Error('it hung up')): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.listener.onClosed(cause);
  }

  /** Opens, and hangs up on the handshake. */
  refuse(): void {
    this.open();
    this.hangUp(new Error('it refused the handshake'));
  }

  reply(xid: number, outcome: Reply | number, read?: ReplyBody['read']): void {
    const errorNumber = typeof outcome === 'number' ? outcome : 0;
    const value = typeof outcome === 'number' ? undefined : outcome;
    this.#hear(() => this.listener.onReply(xid, errorNumber, { read: read ?? (() => value) }));
  }

  /** Answers the oldest request that has not been answered by this method. */
  answer(outcome: Reply | number = undefined): SentRequest {
    const sent = this.sent[this.#answered];
    if (sent === undefined) throw new Error('Nothing was sent that could be answered');
    this.#answered += 1;
    this.reply(sent.xid, outcome);
    return sent;
  }

  event(type: WatchEvent['type'], path: string): void {
    this.#hear(() => this.listener.onEvent({ type, path }));
  }

  operations(): string[] {
    return this.sent.map(({ request }) => request.op);
  }

  #hear(tell: () => void): void {
    if (this.destroyed) return;
    this.listener.onActivity();
    tell();
  }
}

/** Keeps the links it was asked for; the test plays the servers behind them. */
export class ScriptedDialer implements Dialer {
  readonly links: ScriptedLink[] = [];
  /** Called after `dial` has returned. */
  onDial: (link: ScriptedLink) => void = () => undefined;

  dial(server: Server, listener: LinkListener, { asksFirst }: DialOptions = {}): Link {
    const link = new ScriptedLink(server, listener, asksFirst);
    this.links.push(link);
    queueMicrotask(() => {
      if (!link.destroyed) this.onDial(link);
    });
    return link;
  }

  get last(): ScriptedLink {
    const link = this.links.at(-1);
    if (link === undefined) throw new Error('Nothing was dialled');
    return link;
  }

  get open(): ScriptedLink[] {
    return this.links.filter((link) => !link.destroyed);
  }
}
