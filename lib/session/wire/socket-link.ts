import type { Socket } from 'node:net';
import { clearTimeout, setTimeout } from 'node:timers';
import type { DialOptions, Handshake, Link, LinkListener, LinkRequest, LinkStage, Server } from '../core/link.js';
import {
  addressIn,
  asError,
  brokenConnection,
  firstError,
  hangUp,
  notServing,
  saidNothing,
  serverName,
  unreadableReply,
  unresolvedName,
} from './connection-causes.js';
import type { Encryption } from './encryption.js';
import { FrameInput } from './frame-input.js';
import { FrameOutput } from './frame-output.js';
import { addressesWithoutAsking } from './name-resolver.js';
import type { SocketDialer } from './socket-dialer.js';

const KEEP_ALIVE_AFTER_MS = 15_000;
/** How long the last queued frames, such as a close of the session, get to leave. */
const LINGER_MS = 100;

/** The four-letter word that servers answer by default. It touches no session. */
const QUESTION = 'srvr';
const NOT_SERVING = /not currently serving requests|^Mode: read-only\n/m;
/** Matches the last line but one of a full answer, or the refusal where the administrator allows the word to nobody. */
const SERVING = /^Mode: .*\n|is not in the whitelist/m;
const MAX_ANSWER_CHARACTERS = 65_536;

type State =
  | { readonly name: 'preparing' }
  | { readonly name: 'resolving' }
  | { readonly name: 'connecting'; readonly socket: Socket }
  | { readonly name: 'securing'; readonly socket: Socket; readonly address: string }
  | { readonly name: 'asking'; readonly socket: Socket; readonly address: string; readonly answer: ServiceAnswer }
  | { readonly name: 'open'; readonly socket: Socket; readonly address: string; readonly output: FrameOutput }
  | { readonly name: 'closed' };

/** One connection, from the look-up of the name to its end. */
export class SocketLink implements Link {
  readonly #server: Server;
  readonly #listener: LinkListener;
  readonly #dialer: SocketDialer;
  readonly #input: FrameInput;
  readonly #ended = new AbortController();
  #state: State = { name: 'resolving' };
  #encryption: Encryption | undefined;
  #name: string;
  /** Whether the server must first say that it serves. */
  #asksFirst: boolean;

  constructor(server: Server, listener: LinkListener, dialer: SocketDialer, { asksFirst = false }: DialOptions) {
    this.#server = server;
    this.#listener = listener;
    this.#dialer = dialer;
    this.#asksFirst = asksFirst;
    this.#input = new FrameInput(listener);
    this.#name = serverName(server, undefined);
    // The listener is called only after `dial` has returned, also about a connection that fails at once.
    process.nextTick(() => this.#start());
  }

  get lastZxid(): bigint {
    return this.#input.lastZxid;
  }

  get stage(): LinkStage | undefined {
    const { name } = this.#state;
    return name === 'open' || name === 'closed' ? undefined : name;
  }

  get address(): string | undefined {
    return 'address' in this.#state ? this.#state.address : undefined;
  }

  handshake(handshake: Handshake): void {
    if (this.#state.name === 'open') this.#state.output.handshake(handshake);
  }

  sendToken(token: Uint8Array): void {
    if (this.#state.name === 'open') this.#state.output.token(token);
  }

  send(xid: number, request: LinkRequest, chroot: string): boolean {
    // A closed link accepts everything and sends nothing.
    return this.#state.name === 'open' ? this.#state.output.send(xid, request, chroot) : true;
  }

  flush(): Promise<void> | undefined {
    return this.#state.name === 'open' ? this.#state.output.leave() : undefined;
  }

  destroy(): void {
    const state = this.#state;
    this.#end(state);
    if (state.name === 'open') {
      state.output.flush();
      letGo(state.socket);
    } else if ('socket' in state) state.socket.destroy();
  }

  #start(): void {
    if (this.#state.name === 'closed') return;
    try {
      const encryption = this.#dialer.encryption(this.#ended.signal);
      if (!(encryption instanceof Promise)) return this.#resolve(encryption);
      this.#state = { name: 'preparing' };
      encryption.then(
        (answered) => this.#resolve(answered),
        (error: unknown) => this.#fail(asError(error)),
      );
    } catch (error) {
      this.#failWith(error);
    }
  }

  #resolve(encryption: Encryption | undefined): void {
    if (this.#state.name === 'closed') return;
    this.#state = { name: 'resolving' };
    this.#encryption = encryption;
    const known = addressesWithoutAsking(this.#server.host);
    if (known !== undefined) return this.#connect(known);
    this.#dialer.resolver.resolve(this.#server.host, this.#ended.signal).then(
      (addresses) => this.#connect(addresses),
      (error: unknown) => this.#fail(unresolvedName(this.#server, asError(error))),
    );
  }

  #connect(addresses: readonly string[]): void {
    if (this.#state.name !== 'closed') this.#open(this.#dialer.addresses.choose(this.#server.host, addresses));
  }

  #open(addresses: readonly string[]): void {
    try {
      const socket = this.#dialer.open(this.#server, addresses, this.#encryption, (bytes) => {
        if (this.#isCurrent(socket)) this.#onBytes(bytes);
      });
      this.#state = { name: 'connecting', socket };
      socket.on('error', (error) => this.#isCurrent(socket) && this.#failWith(error));
      socket.on('end', () => this.#isCurrent(socket) && this.#hungUp());
      socket.on('close', () => this.#isCurrent(socket) && this.#hungUp());
      socket.once('connect', () => this.#isCurrent(socket) && this.#onConnected(socket, socket.remoteAddress ?? ''));
    } catch (error) {
      this.#failWith(error);
    }
  }

  #onConnected(socket: Socket, address: string): void {
    this.#name = serverName(this.#server, address);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_AFTER_MS);
    this.#state = { name: 'securing', socket, address };
    if (this.#dialer.secure) socket.once('secureConnect', () => this.#onConversable(socket, address));
    else this.#onConversable(socket, address);
  }

  #onConversable(socket: Socket, address: string): void {
    if (!this.#isCurrent(socket)) return;
    if (this.#asksFirst) this.#ask(socket, address);
    else this.#onOpen(socket, address);
  }

  #ask(socket: Socket, address: string): void {
    this.#state = { name: 'asking', socket, address, answer: new ServiceAnswer() };
    socket.write(QUESTION);
  }

  #onAnswered(serves: boolean, socket: Socket, address: string): void {
    if (!serves) return this.#fail(notServing(this.#name));
    this.#asksFirst = false;
    this.#listener.onServing?.();
    if (!this.#isCurrent(socket)) return;
    // The server hangs up after its answer, so the handshake takes a new connection, to the same address.
    this.#open([address]);
    socket.destroy();
  }

  #onOpen(socket: Socket, address: string): void {
    this.#state = { name: 'open', socket, address, output: new FrameOutput(socket, this.#dialer.acl) };
    this.#listener.onOpen();
  }

  #onBytes(bytes: Buffer): void {
    if (this.#state.name === 'asking') {
      const { answer, socket, address } = this.#state;
      const serves = answer.read(bytes);
      if (serves !== undefined) this.#onAnswered(serves, socket, address);
      return;
    }
    try {
      this.#input.push(bytes);
    } catch (error) {
      this.#fail(unreadableReply(this.#name, asError(error)));
    }
  }

  #hungUp(): void {
    if (this.#state.name === 'asking') return this.#fail(saidNothing(this.#name));
    this.#fail(hangUp(this.#name, this.#input.handshaken, this.#dialer.secure));
  }

  #failWith(thrown: unknown): void {
    const error = firstError(asError(thrown));
    const address = 'address' in this.#state ? this.#state.address : addressIn(error);
    this.#fail(brokenConnection(serverName(this.#server, address), error, this.#dialer.secure));
  }

  #fail(cause: Error): void {
    const state = this.#state;
    if (state.name === 'closed') return;
    this.#end(state);
    if ('socket' in state) state.socket.destroy();
    this.#listener.onClosed(cause);
  }

  #isCurrent(socket: Socket): boolean {
    return 'socket' in this.#state && this.#state.socket === socket;
  }

  #end(state: State): void {
    this.#state = { name: 'closed' };
    this.#input.stop();
    this.#ended.abort();
    if ('address' in state && this.#input.handshaken) {
      this.#dialer.addresses.gaveSession(this.#server.host, state.address);
    }
  }
}

/**
 * Reads what a server answers, on a connection of its own, when it is asked whether it serves clients at all. A hang-up
 * on a handshake does not tell: a server without a quorum does the same as one that took the session up and then died.
 * A server that may not answer passes for serving.
 */
class ServiceAnswer {
  #text = '';

  /** @returns whether the server serves; undefined until it has said enough */
  read(bytes: Buffer): boolean | undefined {
    this.#text += bytes.toString('latin1');
    if (NOT_SERVING.test(this.#text)) return false;
    return SERVING.test(this.#text) || this.#text.length > MAX_ANSWER_CHARACTERS ? true : undefined;
  }
}

/** Ends the connection behind the bytes that are still to be sent. */
function letGo(socket: Socket): void {
  // The timer and the socket must not keep the process alive.
  socket.unref();
  // Incoming bytes are still read and dropped: closing with unread bytes would reset the connection, and the server
  // would lose what it has not read yet.
  socket.end();
  const linger = setTimeout(() => socket.destroy(), LINGER_MS);
  linger.unref();
  socket.once('close', () => clearTimeout(linger));
}
