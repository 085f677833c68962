import {
  AuthenticationError,
  type Authenticator,
  type SaslExchange,
  type SaslResponse,
} from '../core/authentication.js';
import type { Server } from '../core/link.js';
import type { KerberosSettings } from '../options.js';
import { type KerberosClient, type KerberosPackage, loadKerberos } from './kerberos-package.js';
import { TokenLine } from './token-line.js';
import { noPackage, noTicket, reasonOf, refusalOf, silenceOf, unfitServer } from './troubles.js';

interface Begun {
  readonly client: KerberosClient;
  readonly token: string | null;
}

/** The process has one thread pool, so it has one line. */
const processLine = new TokenLine<Begun>();

/** The bit of "no security layer" in what a server offers (RFC 4752). The other bits are integrity and privacy. */
const NO_LAYER = 1;
const NO_TOKEN = new Uint8Array(0);
/** The package decodes the offer and reads eight bytes of it. Zeros mean: no security layer, no longest message. */
const EMPTY_OFFER = toBase64(new Uint8Array(8));

/** Authenticates by Kerberos 5 (SASL mechanism GSSAPI), with the system's library, its tickets and its settings. */
export class KerberosAuthenticator implements Authenticator {
  readonly #settings: KerberosSettings;
  readonly #load: () => Promise<KerberosPackage>;
  readonly #line: TokenLine<Begun>;

  constructor(settings: KerberosSettings, load: () => Promise<KerberosPackage> = loadKerberos, line = processLine) {
    this.#settings = settings;
    this.#load = load;
    this.#line = line;
  }

  async begin(server: Server, signal: AbortSignal): Promise<SaslExchange> {
    const kerberos = await this.#load().catch((cause: unknown) => {
      throw noPackage(cause);
    });
    const { principal } = this.#settings;
    const host = this.#settings.host ?? server.host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
    const service = `${this.#settings.service}/${host}`;
    const begin = async (): Promise<Begun> => {
      try {
        // Each connection asks anew, so a renewed ticket is found.
        const options = { mechOID: kerberos.GSS_MECH_OID_KRB5, ...(principal === undefined ? {} : { principal }) };
        const client = await kerberos.initializeClient(`${this.#settings.service}@${host}`, options);
        return { client, token: await client.step('') };
      } catch (cause) {
        throw noTicket(service, principal, cause);
      }
    };
    // A name has no space in it, so the two cannot be taken for others.
    const { client, token } = await this.#line.ask(`${service} ${principal ?? ''}`, begin, signal);
    if (token === null) throw unfitServer(service, 'gets no token from the Kerberos library');
    return new KerberosExchange(client, service, fromBase64(token));
  }
}

/** First the two sides prove to one another who they are, and then they agree that messages go on as they are. */
class KerberosExchange implements SaslExchange {
  readonly #client: KerberosClient;
  readonly #service: string;
  readonly firstToken: Uint8Array;

  constructor(client: KerberosClient, service: string, firstToken: Uint8Array) {
    this.#client = client;
    this.#service = service;
    this.firstToken = firstToken;
  }

  async respond(challenge: Uint8Array): Promise<SaslResponse> {
    try {
      if (this.#client.contextComplete) return { token: await this.#agree(challenge), isLast: true };
      const token = await this.#client.step(toBase64(challenge));
      return { token: token === null ? NO_TOKEN : fromBase64(token), isLast: false };
    } catch (cause) {
      if (cause instanceof AuthenticationError) throw cause;
      throw unfitServer(this.#service, `cannot prove that it is who it should be (${reasonOf(cause)})`, cause);
    }
  }

  explain(refusal: 'refused' | 'ignored'): string {
    return refusal === 'refused' ? refusalOf(this.#service) : silenceOf(this.#service);
  }

  async #agree(challenge: Uint8Array): Promise<Uint8Array> {
    const [layers = 0] = fromBase64(await this.#client.unwrap(toBase64(challenge)));
    if ((layers & NO_LAYER) === 0) {
      throw unfitServer(this.#service, 'insists on SASL layers (integrity, privacy), which ZooKeeper does not speak');
    }
    // Without a name to act for, the client acts for itself.
    return fromBase64(await this.#client.wrap(EMPTY_OFFER, { user: '' }));
  }
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

function fromBase64(text: string): Uint8Array {
  return Buffer.from(text, 'base64');
}
