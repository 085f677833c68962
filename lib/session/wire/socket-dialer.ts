import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectSecure, createSecureContext, type SecureContext } from 'node:tls';
import type { Dialer, DialOptions, Link, LinkListener, Server } from '../core/link.js';
import type { TlsSettings } from '../options.js';
import type { Acl } from '../requests.js';
import { AddressBook } from './address-book.js';
import { RememberingResolver } from './remembering-resolver.js';
import { SystemNameResolver, type NameResolver } from './resolve.js';
import { SocketLink } from './socket-link.js';

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

  dial(server: Server, listener: LinkListener, options: DialOptions = {}): Link {
    return new SocketLink(server, listener, this, options);
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
