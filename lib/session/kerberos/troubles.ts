import { AuthenticationError } from '../core/authentication.js';

/** What libkrb5 puts in front of the reason, and what only says that a reason follows. */
const PREAMBLE =
  /^(?:Unspecified GSS failure\. +Minor code may provide more information|No credentials were supplied, or the credentials were unavailable or inaccessible): /;

interface Trouble {
  readonly text: RegExp;
  readonly blames: AuthenticationError['blames'];
  readonly advice: string;
}

const GET_A_TICKET =
  'Let something on this machine keep a ticket in its cache (kinit, k5start, SSSD; KRB5CCNAME names the cache), or name ' +
  'a keytab in KRB5_CLIENT_KTNAME, from which tickets are got and renewed without anybody’s help';

/** By the words of MIT Kerberos, which is all that the package passes on. */
const TROUBLES: readonly Trouble[] = [
  {
    text: /Clock skew too great/,
    blames: 'client',
    advice: 'The clocks of this machine and of the KDC differ by more than Kerberos allows (5 minutes): set them (NTP)',
  },
  {
    text: /Ticket expired|credentials? (?:have|has) expired/i,
    blames: 'client',
    advice: `It must be renewed. ${GET_A_TICKET}`,
  },
  {
    text: /No Kerberos credentials available|No credentials cache found|Can't find client principal/,
    blames: 'client',
    advice: GET_A_TICKET,
  },
  {
    text: /Client '.*' not found in Kerberos database|Malformed representation of principal/,
    blames: 'client',
    advice: 'Check the name of the principal, and the keytab or the cache that it comes from',
  },
  {
    text: /Client's credentials have been revoked|Client not yet valid/,
    blames: 'client',
    advice: 'Ask the administrator of the realm',
  },
  {
    text: /Decrypt integrity check failed|Preauthentication failed|Password incorrect|no suitable keys|Key table/i,
    blames: 'client',
    advice: 'The keytab has no key for this principal, or an old one: export it anew',
  },
  {
    text: /Server .* not found in Kerberos database/,
    blames: 'server',
    advice:
      'In connect, name the server as in its principal, or give auth.host and auth.service; whether names are made ' +
      'canonical first, and which realm a host is in, is up to krb5.conf',
  },
  {
    text: /Cannot find KDC for realm|Configuration file does not specify default realm|Improper format of Kerberos configuration/,
    blames: 'client',
    advice: 'Check krb5.conf (KRB5_CONFIG names another one)',
  },
];

/** The error for what the library said when it was asked for a ticket, or for a token made of one. */
export function noTicket(servicePrincipal: string, principal: string | undefined, cause: unknown): AuthenticationError {
  const said = reasonOf(cause);
  // What is not known may pass, as a KDC that is away does.
  const { blames, advice } = TROUBLES.find(({ text }) => text.test(said)) ?? { blames: 'moment' as const, advice: '' };
  const who = principal === undefined ? '' : ` as ${principal}`;
  const text = `Kerberos gives no ticket for ${servicePrincipal}${who}: ${said}`;
  return new AuthenticationError(blames, advice === '' ? text : `${text}. ${advice}`, { cause });
}

/** The server's own proof, or what it asks for, is not what it should be. */
export function unfitServer(servicePrincipal: string, what: string, cause?: unknown): AuthenticationError {
  return new AuthenticationError('server', `${servicePrincipal} ${what}`, cause === undefined ? undefined : { cause });
}

export function noPackage(cause: unknown): AuthenticationError {
  const isMissing = typeof cause === 'object' && cause !== null && 'code' in cause && isNotFound(cause.code);
  const text = isMissing
    ? "auth.scheme 'kerberos' needs the package kerberos: npm install kerberos"
    : `the package kerberos cannot be loaded (${reasonOf(cause)}): it needs the system's library libgssapi_krb5 ` +
      '(Debian: libgssapi-krb5-2), and to have been compiled or downloaded for this machine';
  return new AuthenticationError('client', text, { cause });
}

function isNotFound(code: unknown): boolean {
  return code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
}

export function reasonOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  return message.replace(PREAMBLE, '').trim();
}

/** What a server's refusal of a ticket means. Only its own log has the reason. */
export function refusalOf(servicePrincipal: string): string {
  return (
    `it was shown a Kerberos ticket for ${servicePrincipal}, and only its log says why it is not content. Mostly its ` +
    "keytab has not the key that the KDC has, its clock and this machine's are more than 5 minutes apart, or its rules " +
    '(auth_to_local) have no name for this client'
  );
}

/** What it means that a server answers without a token. */
export function silenceOf(servicePrincipal: string): string {
  return (
    `it answers a Kerberos ticket for ${servicePrincipal} with nothing. It is not set up for SASL (a section Server in ` +
    'the file of java.security.auth.login.config), or lets in whom it refuses (zookeeper.allowSaslFailedClients)'
  );
}
