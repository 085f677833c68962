import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { clearTimeout, setTimeout } from 'node:timers';
import { connect as connectSecure, createSecureContext, type SecureContext } from 'node:tls';
import type { Dialer, Handshake, Link, LinkListener, LinkRequest, LinkStage, Server } from '../core/link.js';
import type { TlsSettings } from '../options.js';
import type { Acl } from '../requests.js';
import { AddressBook } from './address-book.js';
import { asError, brokenConnection, hangUp, serverName, unreadableReply, unresolvedName } from './connection-causes.js';
import { FrameInput } from './frame-input.js';
import { FrameOutput } from './frame-output.js';
import { RememberingResolver } from './remembering-resolver.js';
import { addressesWithoutAsking, SystemNameResolver, type NameResolver, type Resolution } from './resolve.js';
import { SocketRace } from './socket-race.js';

const KEEP_ALIVE_AFTER_MS = 15_000;
/** What was queued last, a close of the session for example, gets so long to leave. */
const LINGER_MS = 100;

export interface DialerSettings {
  /** Speak TLS, to a `secureClientPort`. */
  readonly tls?: TlsSettings | undefined;
  /** For creates that name none. */
  readonly acl: readonly Acl[];
  /** @default the system's look-up, raced by direct questions to the name servers */
  readonly resolver?: NameResolver | undefined;
  /** In [0, 1). @default Math.random */
  readonly random?: (() => number) | undefined;
}

/** Connects to real servers over TCP or TLS. */
export class SocketDialer implements Dialer {
  readonly acl: readonly Acl[];
  readonly resolver: NameResolver;
  readonly addresses: AddressBook;
  readonly secure: boolean;
  readonly #tls: TlsSettings | undefined;
  #secureContext: SecureContext | undefined;

  constructor(settings: DialerSettings) {
    this.acl = settings.acl;
    this.resolver = new RememberingResolver(settings.resolver ?? new SystemNameResolver());
    this.addresses = new AddressBook(settings.random ?? Math.random);
    this.secure = settings.tls !== undefined;
    this.#tls = settings.tls;
  }

  dial(server: Server, listener: LinkListener): Link {
    return new SocketLink(server, listener, this);
  }

  /** @throws when the port is none, or a certificate or key cannot be read */
  open(server: Server, address: string): Socket {
    if (this.#tls === undefined) return connectPlain({ host: address, port: server.port });
    this.#secureContext ??= createSecureContext(this.#tls);
    // An address must not be sent as a server name; certificates then are checked against the address. Nor must the dot
    // of the root, which servers refuse.
    const servername = this.#tls.servername ?? (isIP(server.host) === 0 ? server.host.replace(/\.$/, '') : undefined);
    return connectSecure({
      ...this.#tls,
      ...(servername === undefined ? {} : { servername }),
      secureContext: this.#secureContext,
      host: address,
      port: server.port,
    });
  }
}

type State =
  | { readonly name: 'starting' }
  | { readonly name: 'resolving'; readonly resolution: Resolution }
  | { readonly name: 'connecting'; readonly race: SocketRace }
  | { readonly name: 'securing'; readonly socket: Socket; readonly address: string }
  | { readonly name: 'open'; readonly socket: Socket; readonly address: string; readonly output: FrameOutput }
  | { readonly name: 'closed' };

/** One connection, from the look-up of the name to its end. */
class SocketLink implements Link {
  readonly #server: Server;
  readonly #listener: LinkListener;
  readonly #dialer: SocketDialer;
  readonly #input: FrameInput;
  #state: State = { name: 'starting' };
  #name: string;

  constructor(server: Server, listener: LinkListener, dialer: SocketDialer) {
    this.#server = server;
    this.#listener = listener;
    this.#dialer = dialer;
    this.#input = new FrameInput(listener);
    this.#name = serverName(server, undefined);
    // Not before `dial` has returned: what goes wrong at once is told, too.
    process.nextTick(() => this.#start());
  }

  get lastZxid(): bigint {
    return this.#input.lastZxid;
  }

  get stage(): LinkStage | undefined {
    switch (this.#state.name) {
      case 'starting':
        return 'resolving';
      case 'resolving':
      case 'connecting':
      case 'securing':
        return this.#state.name;
      case 'open':
      case 'closed':
        return undefined;
    }
  }

  handshake(handshake: Handshake): void {
    if (this.#state.name === 'open') this.#state.output.handshake(handshake);
  }

  /** On a link that is closed everything is taken and nothing sent. */
  send(xid: number, request: LinkRequest, chroot: string): boolean {
    return this.#state.name === 'open' ? this.#state.output.send(xid, request, chroot) : true;
  }

  flush(): Promise<void> | undefined {
    return this.#state.name === 'open' ? this.#state.output.leave() : undefined;
  }

  destroy(): void {
    const state = this.#state;
    this.#end(state);
    switch (state.name) {
      case 'resolving':
        return state.resolution.cancel();
      case 'connecting':
        return state.race.cancel();
      case 'securing':
        state.socket.destroy();
        return;
      case 'open':
        state.output.flush();
        return letGo(state.socket);
      case 'starting':
      case 'closed':
        return;
    }
  }

  #start(): void {
    if (this.#state.name !== 'starting') return;
    const known = addressesWithoutAsking(this.#server.host);
    if (known !== undefined) return this.#connect(known);
    try {
      const resolution = this.#dialer.resolver.resolve(this.#server.host, {
        onResolved: (addresses) => this.#connect(addresses),
        onUnresolved: (cause) => this.#fail(unresolvedName(this.#server, cause)),
      });
      this.#state = { name: 'resolving', resolution };
    } catch (error) {
      this.#fail(unresolvedName(this.#server, asError(error)));
    }
  }

  #connect(addresses: readonly string[]): void {
    if (this.#state.name === 'closed') return;
    const { host } = this.#server;
    try {
      const race = new SocketRace(
        this.#dialer.addresses.choose(host, addresses),
        (address) => this.#dialer.open(this.#server, address),
        {
          onConnected: (socket, address) => this.#onConnected(socket, address),
          onFailed: (error, address) => this.#failWith(error, address),
        },
      );
      this.#state = { name: 'connecting', race };
    } catch (error) {
      this.#failWith(error, undefined);
    }
  }

  #onConnected(socket: Socket, address: string): void {
    if (this.#state.name === 'closed') return;
    this.#name = serverName(this.#server, address);
    this.#dialer.addresses.worked(this.#server.host, address);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_AFTER_MS);
    socket.on('error', (error) => this.#failWith(error, address));
    socket.on('end', () => this.#hungUp());
    socket.on('close', () => this.#hungUp());
    if (!this.#dialer.secure) return this.#onOpen(socket, address);
    this.#state = { name: 'securing', socket, address };
    socket.once('secureConnect', () => this.#onOpen(socket, address));
  }

  #onOpen(socket: Socket, address: string): void {
    if (this.#state.name === 'closed') return;
    this.#state = { name: 'open', socket, address, output: new FrameOutput(socket, this.#dialer.acl) };
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    this.#listener.onOpen();
  }

  #onData(chunk: Buffer): void {
    if (this.#state.name === 'closed') return;
    try {
      this.#input.push(chunk);
    } catch (error) {
      this.#fail(unreadableReply(this.#name, asError(error)));
    }
  }

  #hungUp(): void {
    this.#fail(hangUp(this.#name, this.#input.handshaken, this.#dialer.secure));
  }

  #failWith(error: unknown, address: string | undefined): void {
    this.#fail(brokenConnection(serverName(this.#server, address), asError(error), this.#dialer.secure));
  }

  #fail(cause: Error): void {
    const state = this.#state;
    if (state.name === 'closed') return;
    this.#end(state);
    if (state.name === 'open' || state.name === 'securing') state.socket.destroy();
    this.#listener.onClosed(cause);
  }

  #end(state: State): void {
    this.#state = { name: 'closed' };
    this.#input.stop();
    const isConnected = state.name === 'securing' || state.name === 'open';
    if (isConnected && !this.#input.handshaken) {
      this.#dialer.addresses.openedNoSession(this.#server.host, state.address);
    }
  }
}

/**
 * Ends the connection behind what is still to be sent. What comes in is read and dropped: closing with unread bytes
 * would reset the connection, and with it what the server has not read yet. Nothing here keeps the process alive.
 */
function letGo(socket: Socket): void {
  socket.unref();
  socket.end();
  const linger = setTimeout(() => socket.destroy(), LINGER_MS);
  linger.unref();
  socket.once('close', () => clearTimeout(linger));
}
