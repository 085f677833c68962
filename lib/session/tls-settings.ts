import { X509Certificate } from 'node:crypto';
import { type ConnectionOptions, createSecureContext } from 'node:tls';
import { types } from 'node:util';

type Kind = 'PEM' | 'string' | 'boolean' | 'function' | 'whatever node:tls takes';

/** The kind of value for each setting. `node:tls` itself would take a path for a certificate that nobody trusts. */
const KINDS = {
  ca: 'PEM',
  cert: 'PEM',
  key: 'PEM',
  pfx: 'whatever node:tls takes',
  passphrase: 'string',
  servername: 'string',
  rejectUnauthorized: 'boolean',
  minVersion: 'whatever node:tls takes',
  maxVersion: 'whatever node:tls takes',
  ciphers: 'string',
  ecdhCurve: 'string',
  sigalgs: 'string',
  crl: 'whatever node:tls takes',
  checkServerIdentity: 'function',
} as const satisfies Partial<Record<keyof ConnectionOptions, Kind>>;

export type TlsSettings = Pick<ConnectionOptions, keyof typeof KINDS>;

/** Tells the settings of the moment. It is asked at each dial, so that certificates can be replaced while locks are held. */
export type TlsSource = () => TlsSettings | Promise<TlsSettings>;

/** Says what is wrong with the option. What a function will return is known only when a server is dialled. */
export function mistakeInTls(tls: unknown): string | undefined {
  if (typeof tls === 'function') return undefined;
  if (types.isPromise(tls)) return 'must not be a promise: await it first, or give the function that makes it';
  if (areSettings(tls)) return mistakeInSettings(tls);
  return 'must be an object such as { ca, cert, key }, as tls.connect() takes it, or a function that returns one';
}

export function areSettings(tls: unknown): tls is object {
  return typeof tls === 'object' && tls !== null && !Array.isArray(tls) && !ArrayBuffer.isView(tls);
}

/**
 * Says what is wrong with these settings, as far as that can be known without a server; against servers it would only
 * be seen that none can be reached. It names the setting, never its value.
 */
export function mistakeInSettings(tls: object): string | undefined {
  if ('checkServerIdentity' in tls && (tls.checkServerIdentity ?? undefined) === undefined) {
    // A function given here replaces the check that node:tls has. node:tls calls it even where it is undefined.
    return 'checkServerIdentity must be a function, or not be there: without it the name of the server is checked as usual';
  }
  for (const [name, value] of Object.entries(tls)) {
    if (!isSetting(name)) return `${name} is not a setting (the settings are: ${Object.keys(KINDS).join(', ')})`;
    const mistake = (value ?? undefined) === undefined ? undefined : mistakeInSetting(name, value);
    if (mistake !== undefined) return `${name} ${mistake}`;
  }
  const settings: TlsSettings = tls;
  if ((settings.cert ?? undefined) !== undefined && (settings.key ?? undefined) === undefined)
    return 'cert is of no use without its key';
  try {
    createSecureContext(settings);
    return undefined;
  } catch (error) {
    return `these settings cannot work: ${reasonOf(error)}`;
  }
}

function isSetting(name: string): name is keyof TlsSettings {
  return Object.hasOwn(KINDS, name);
}

function mistakeInSetting(name: keyof TlsSettings, value: unknown): string | undefined {
  const kind: Kind = KINDS[name];
  if (kind === 'whatever node:tls takes') return undefined;
  if (kind !== 'PEM') return typeof value === kind ? undefined : `must be a ${kind}`;
  for (const part of [value].flat()) {
    const mistake = mistakeInPem(name, part);
    if (mistake !== undefined) return mistake;
  }
  return undefined;
}

function mistakeInPem(name: keyof TlsSettings, part: unknown): string | undefined {
  const text = textOf(part);
  if (text === undefined) return 'must be PEM, a string or a Buffer';
  if (!text.includes('-----BEGIN')) {
    const advice = typeof part === 'string' ? 'is it a path? It must be what the file holds' : 'is it DER?';
    return `is not PEM, it has no -----BEGIN: ${advice}`;
  }
  if (name !== 'ca') return undefined;
  try {
    // A secure context silently ignores an authority that it cannot read.
    new X509Certificate(text);
    return undefined;
  } catch (error) {
    return `cannot be read: ${reasonOf(error)}`;
  }
}

/** A key may be given as an object, next to a passphrase of its own. */
function textOf(part: unknown): string | undefined {
  if (typeof part === 'string') return part;
  if (ArrayBuffer.isView(part)) return Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('latin1');
  return typeof part === 'object' && part !== null && 'pem' in part ? textOf(part.pem) : undefined;
}

function reasonOf(thrown: unknown): string {
  // Node ends a complaint about a wrong type with the value itself, which may be a passphrase.
  return tlsReason(thrown as Error).replace(/\.? Received .*/s, '');
}

/** The reason in plain words. OpenSSL's own message is full of numbers and source files, and has a line break. */
export function tlsReason(error: Error): string {
  return 'library' in error && 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message;
}
