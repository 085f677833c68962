import { describe, expect, it } from '@jest/globals';
import { AuthenticationError } from '../../../../lib/session/core/authentication.js';
import { KerberosAuthenticator } from '../../../../lib/session/kerberos/kerberos-authenticator.js';
import type { KerberosClient, KerberosPackage } from '../../../../lib/session/kerberos/kerberos-package.js';
import { TokenLine } from '../../../../lib/session/kerberos/token-line.js';
import type { KerberosSettings } from '../../../../lib/session/options.js';

const SETTINGS: KerberosSettings = { service: 'zookeeper', host: undefined, principal: undefined };
const SERVER = { host: 'zk1', port: 2181 };
const NEVER = new AbortController().signal;

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

/** Plays the package: two steps, and then the agreement on layers. */
class PlayedKerberos implements KerberosPackage {
  readonly GSS_MECH_OID_KRB5 = 9;
  readonly asked: { service: string; options: object }[] = [];
  readonly steps: string[] = [];
  wrapped: { offer: Buffer; user: string } | undefined;
  offer = Buffer.from([1, 0, 255, 255]);
  trouble: { at: 'initialize' | 'first step' | 'second step' | 'unwrap'; error: Error } | undefined;

  initializeClient(service: string, options: object): Promise<KerberosClient> {
    this.asked.push({ service, options });
    const client = {
      contextComplete: false,
      step: (challenge: string) =>
        this.#play(challenge === '' ? 'first step' : 'second step', () => {
          this.steps.push(Buffer.from(challenge, 'base64').toString());
          client.contextComplete = challenge !== '';
          return challenge === '' ? base64('ticket') : null;
        }),
      unwrap: () => this.#play('unwrap', () => this.offer.toString('base64')),
      wrap: (offer: string, { user }: { user: string }) => {
        this.wrapped = { offer: Buffer.from(offer, 'base64'), user };
        return Promise.resolve(base64('agreed'));
      },
    };
    return this.#play('initialize', () => client);
  }

  async #play<T>(at: string, answer: () => T): Promise<T> {
    await Promise.resolve();
    if (this.trouble?.at === at) throw this.trouble.error;
    return answer();
  }
}

function authenticator(played: KerberosPackage, settings: Partial<KerberosSettings> = {}): KerberosAuthenticator {
  return new KerberosAuthenticator({ ...SETTINGS, ...settings }, () => Promise.resolve(played), new TokenLine());
}

async function failureOf(promise: Promise<unknown>): Promise<AuthenticationError> {
  const error: unknown = await promise.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(AuthenticationError);
  return error as AuthenticationError;
}

describe('Kerberos', () => {
  it('shows the ticket, hears the server, and agrees to no layer in its own name', async () => {
    const played = new PlayedKerberos();
    const exchange = await authenticator(played).begin(SERVER, NEVER);
    expect(text(exchange.firstToken)).toBe('ticket');
    expect(played.asked).toEqual([{ service: 'zookeeper@zk1', options: { mechOID: 9 } }]);

    const second = await exchange.respond(Buffer.from('proof of the server'));
    expect([second.token.length, second.isLast]).toEqual([0, false]);
    const last = await exchange.respond(Buffer.from('layers, wrapped'));
    expect([text(last.token), last.isLast]).toEqual(['agreed', true]);
    expect(played.steps).toEqual(['', 'proof of the server']);
    // The package reads eight bytes of the offer that it answers, and four of them go into its answer.
    expect(played.wrapped).toEqual({ offer: Buffer.alloc(8), user: '' });
  });

  it.each<[string, Partial<KerberosSettings>, string]>([
    ['zk1', {}, 'zookeeper@zk1'],
    ['zk1.example.com.', {}, 'zookeeper@zk1.example.com'],
    ['[::1]', {}, 'zookeeper@::1'],
    ['10.0.0.1', { host: 'zk.example.com' }, 'zookeeper@zk.example.com'],
    ['zk1', { service: 'locks' }, 'locks@zk1'],
  ])('asks for the service of %s with %j as %s', async (host, settings, service) => {
    const played = new PlayedKerberos();
    await authenticator(played, { ...settings, principal: 'orders' }).begin({ host, port: 1 }, NEVER);
    expect(played.asked).toEqual([{ service, options: { mechOID: 9, principal: 'orders' } }]);
  });

  it('refuses a server that insists on layers', async () => {
    const played = new PlayedKerberos();
    played.offer = Buffer.from([6, 0, 255, 255]);
    const exchange = await authenticator(played).begin(SERVER, NEVER);
    await exchange.respond(Buffer.from('a'));
    const error = await failureOf(exchange.respond(Buffer.from('b')));
    expect([error.blames, error.message]).toEqual([
      'server',
      'zookeeper/zk1 insists on SASL layers (integrity, privacy), which ZooKeeper does not speak',
    ]);
    expect(played.wrapped).toBeUndefined();
  });

  it.each(['second step', 'unwrap'] as const)('refuses a server whose proof fails at its %s', async (at) => {
    const played = new PlayedKerberos();
    played.trouble = {
      at,
      error: new Error('Unspecified GSS failure.  Minor code may provide more information: Message stream modified'),
    };
    const exchange = await authenticator(played).begin(SERVER, NEVER);
    const error = await failureOf(exchange.respond(Buffer.from('a')).then(() => exchange.respond(Buffer.from('b'))));
    expect([error.blames, error.message]).toEqual([
      'server',
      'zookeeper/zk1 cannot prove that it is who it should be (Message stream modified)',
    ]);
  });

  const GSS = 'Unspecified GSS failure.  Minor code may provide more information: ';
  const NONE = 'No credentials were supplied, or the credentials were unavailable or inaccessible: ';
  it.each<[string, 'client' | 'server' | 'moment', RegExp]>([
    [
      `${NONE}No Kerberos credentials available (default cache: FILE:/tmp/x)`,
      'client',
      /cache: FILE:\/tmp\/x\).*kinit/,
    ],
    [`${NONE}Can't find client principal a@B in cache collection`, 'client', /a@B in cache.*KRB5_CLIENT_KTNAME/],
    [`${GSS}Ticket expired`, 'client', /Ticket expired\. It must be renewed/],
    [`${NONE}Client 'a@B' not found in Kerberos database`, 'client', /Check the name of the principal/],
    [`${NONE}Decrypt integrity check failed`, 'client', /keytab has no key for this principal, or an old one/],
    [`${NONE}Preauthentication failed`, 'client', /keytab has no key/],
    [`${GSS}Clock skew too great`, 'client', /clocks of this machine and of the KDC/],
    [`${GSS}Server zookeeper/zk1@B not found in Kerberos database`, 'server', /name the server as in its principal/],
    ['An invalid name was supplied: Malformed representation of principal', 'client', /name of the principal/],
    [`${GSS}Cannot find KDC for realm "B"`, 'client', /krb5\.conf/],
    [`${GSS}Cannot contact any KDC for realm 'B'`, 'moment', /^[^.]*realm 'B'$/],
    ['something that nobody has seen', 'moment', /: something that nobody has seen$/],
  ])('says what to do where the library says: %s', async (said, blames, advice) => {
    for (const at of ['initialize', 'first step'] as const) {
      const played = new PlayedKerberos();
      played.trouble = { at, error: new Error(said) };
      const error = await failureOf(authenticator(played, { principal: 'a@B' }).begin(SERVER, NEVER));
      expect(error.blames).toBe(blames);
      expect(error.message).toMatch(/^Kerberos gives no ticket for zookeeper\/zk1 as a@B: /);
      expect(error.message).toMatch(advice);
      expect(error.message).not.toMatch(/Minor code|No credentials were supplied/);
      expect(error.cause).toBe(played.trouble.error);
    }
  });

  it.each<[Error, RegExp]>([
    [
      Object.assign(new Error("Cannot find package 'kerberos'"), { code: 'ERR_MODULE_NOT_FOUND' }),
      /npm install kerberos$/,
    ],
    [Object.assign(new Error("Cannot find module 'kerberos'"), { code: 'MODULE_NOT_FOUND' }), /npm install kerberos$/],
    [new Error('Opening library libgssapi_krb5.so.2 failed'), /libgssapi_krb5\.so\.2 failed\).*libgssapi-krb5-2/],
  ])('says how to get the package', async (cause, advice) => {
    const one = new KerberosAuthenticator(SETTINGS, () => Promise.reject(cause), new TokenLine());
    const error = await failureOf(one.begin(SERVER, NEVER));
    expect(error.blames).toBe('client');
    expect(error.message).toMatch(advice);
  });

  it('says what a refusal may mean', async () => {
    const exchange = await authenticator(new PlayedKerberos()).begin(SERVER, NEVER);
    expect(exchange.explain('refused')).toMatch(/zookeeper\/zk1.*its keytab.*clock.*auth_to_local/);
    expect(exchange.explain('ignored')).toMatch(/zookeeper\/zk1.*not set up for SASL.*allowSaslFailedClients/);
  });
});
