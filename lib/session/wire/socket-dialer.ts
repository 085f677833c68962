import { connect as connectPlain, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import type { Dialer, DialOptions, Link, LinkListener, Server } from '../core/link.js';
import type { Acl } from '../requests.js';
import type { TlsSettings, TlsSource } from '../tls-settings.js';
import { type Encryption, encryptionBy, encryptionFrom } from './encryption.js';
import { type NameResolver, RememberingResolver, processGate } from './name-resolver.js';
import { SocketLink } from './socket-link.js';

/** How long an address may neither accept nor refuse before the next one is tried. */
const NEXT_AFTER_MS = 300;
const CHUNK_BYTES = 64 * 1024;

export interface DialerSettings {
  /** Speak TLS, to a `secureClientPort`. A function is asked at each dial. */
  readonly tls?: TlsSettings | TlsSource | undefined;
  /** The access rights of creates that name none. */
  readonly acl: readonly Acl[];
  /** @default the system's look-up */
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
  readonly #tls: TlsSettings | TlsSource | undefined;
  #encryption: Encryption | undefined;

  constructor(settings: DialerSettings) {
    this.acl = settings.acl;
    this.resolver = new RememberingResolver(settings.resolver ?? processGate);
    this.addresses = new AddressBook(settings.random ?? Math.random);
    this.secure = settings.tls !== undefined;
    this.#tls = settings.tls;
  }

  dial(server: Server, listener: LinkListener, options: DialOptions = {}): Link {
    return new SocketLink(server, listener, this, options);
  }

  /**
   * How the next connection is encrypted; a promise of it where a function has to be asked, undefined without TLS.
   *
   * @param end nobody waits for the answer any more
   * @throws when a certificate or key cannot be read
   */
  encryption(end: AbortSignal): Encryption | Promise<Encryption> | undefined {
    if (typeof this.#tls === 'function') return encryptionFrom(this.#tls, end);
    if (this.#tls !== undefined) this.#encryption ??= encryptionBy(this.#tls);
    return this.#encryption;
  }

  /**
   * Connects to the first of these addresses, and to the next one when that fails or is slow.
   *
   * @param onBytes gets what arrives. The bytes are valid during the call only
   * @throws when the port is not a port
   */
  open(
    server: Server,
    addresses: readonly string[],
    encryption: Encryption | undefined,
    onBytes: (bytes: Buffer) => void,
  ): Socket {
    const found = addresses.map((address) => ({ address, family: isIP(address) }));
    const options: TcpNetConnectOpts = {
      ...server,
      // An address where nothing answers must not cost a whole attempt. Node takes the addresses of the two families in
      // turn, beginning with that of the first one.
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_AFTER_MS,
      // The socket reads into the same memory again and again. A stream would allocate 64 KB for each chunk it reads.
      onread: {
        buffer: Buffer.allocUnsafeSlow(CHUNK_BYTES),
        callback: (length, chunk) => {
          onBytes((chunk as Buffer).subarray(0, length));
          return true;
        },
      },
      lookup: (_host, _options, done) => process.nextTick(done, null, found),
    };
    if (encryption === undefined) return connectPlain(options);
    const { settings, context } = encryption;
    // An address must not be sent as a server name; the certificate is then checked against the address. The dot of the
    // root must not be sent either, as servers refuse it.
    const servername = settings.servername ?? (isIP(server.host) === 0 ? server.host.replace(/\.$/, '') : undefined);
    return connectSecure({
      ...settings,
      ...(servername === undefined ? {} : { servername }),
      ...options,
      secureContext: context,
    });
  }
}

/** An address with its family, 4 or 6, in front, so that sorting puts the families apart. */
type FamilyAddress = string;

/**
 * Chooses the address of a name to begin with. A name may stand for several servers (a headless service) or for one
 * server in two families, so each dial begins one address further than the last, and the other addresses go along.
 */
export class AddressBook {
  readonly #lasts = new Map<string, { readonly address: FamilyAddress; readonly gaveSession: boolean }>();
  readonly #random: () => number;

  /** @param random in [0, 1): where the rotation begins, so that not all clients of a fleet begin at the same server */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** The address to try first, followed by the others in rotation. */
  choose(host: string, addresses: readonly string[]): readonly string[] {
    // Name servers shuffle their answers, so the addresses are sorted here. IPv4 comes first, as most servers listen
    // there.
    const sorted = addresses.map(withFamily).sort();
    const first = this.#begin(host, sorted);
    if (first === undefined) return [];
    this.#lasts.set(host, { address: first, gaveSession: false });
    const at = sorted.indexOf(first);
    return [...sorted.slice(at), ...sorted.slice(0, at)].map((address) => address.slice(1));
  }

  /**
   * Notes that a session was had at this address. Later dials keep to its family: another service may listen on the
   * other one.
   */
  gaveSession(host: string, address: string): void {
    this.#lasts.set(host, { address: withFamily(address), gaveSession: true });
  }

  #begin(host: string, addresses: readonly FamilyAddress[]): FamilyAddress | undefined {
    const last = this.#lasts.get(host);
    // The last address gave no session, so the next one is tried, whatever its family.
    if (last?.gaveSession === false) return following(addresses, last.address);
    const family = familyOf(last?.address ?? addresses[0]);
    const ofSameFamily = addresses.filter((address) => familyOf(address) === family);
    if (last === undefined) return ofSameFamily[Math.floor(this.#random() * ofSameFamily.length)];
    return following(ofSameFamily, last.address) ?? addresses[0];
  }
}

function withFamily(address: string): FamilyAddress {
  return `${isIP(address)}${address}`;
}

function familyOf(address: FamilyAddress | undefined): string | undefined {
  return address?.[0];
}

function following(addresses: readonly FamilyAddress[], last: FamilyAddress): FamilyAddress | undefined {
  return addresses.find((address) => address > last) ?? addresses[0];
}
