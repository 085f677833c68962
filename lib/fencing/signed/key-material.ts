import { createPrivateKey, createPublicKey, createSecretKey, type JsonWebKey, KeyObject } from 'node:crypto';
import { types } from 'node:util';
import { LockConfigurationError } from '../../lock/errors.js';

/** A shared secret: its bytes, a text whose UTF-8 bytes they are, a secret KeyObject, or a JWK of type `oct`. */
export type SecretInput = string | Uint8Array | KeyObject | JsonWebKey;

/** One half of an Ed25519 pair: PEM text, a KeyObject, or a JWK of type `OKP`. */
export type Ed25519Input = string | KeyObject | JsonWebKey;

/** As many bytes as a digest of SHA-256 has: RFC 7518, 3.2. */
const MIN_SECRET_BYTES = 32;

/** Tells what is wrong with a key, and shows nothing of the key: neither the text nor the cause of an error may have a secret. */
type Refuse = (what: string) => never;

export function readSecret(secret: unknown, where: string): KeyObject {
  const refuse = refusal(`${where}: secret`);
  const key = secretKey(secret, refuse);
  const bytes = key.symmetricKeySize ?? 0;
  if (bytes < MIN_SECRET_BYTES) {
    refuse(`has ${bytes} bytes; HS256 needs ${MIN_SECRET_BYTES} or more, random ones: crypto.randomBytes(32)`);
  }
  return key;
}

export function readPrivateKey(input: unknown, where: string): KeyObject {
  const refuse = refusal(`${where}: privateKey`);
  if (isJwk(input) && !('d' in input))
    refuse('is a JWK without "d", so it is the public half; signing needs the private one');
  const key = input instanceof KeyObject ? input : parse(input, createPrivateKey, refuse);
  if (key.type !== 'private') refuse(`is a ${key.type} key; signing needs the private one`);
  return ofEd25519(key, refuse);
}

export function readPublicKey(input: unknown, where: string): KeyObject {
  const refuse = refusal(`${where}: publicKey`);
  // Node would take the public half of a private key, whatever it is given as.
  if (isPrivate(input)) {
    refuse(
      'is a private key. Who only verifies must not have it: give the public half, crypto.createPublicKey(privateKey)',
    );
  }
  const key = input instanceof KeyObject ? input : parse(input, createPublicKey, refuse);
  if (key.type !== 'public') refuse(`is a ${key.type} key; Ed25519 verifies with a public one`);
  return ofEd25519(key, refuse);
}

function secretKey(secret: unknown, refuse: Refuse): KeyObject {
  if (secret instanceof KeyObject)
    return secret.type === 'secret' ? secret : refuse(`is a ${secret.type} key, no secret`);
  if (types.isUint8Array(secret)) return createSecretKey(secret);
  if (typeof secret === 'string') {
    // A public key taken for a secret would let everybody sign.
    if (isPem(secret)) refuse('is a PEM text, which is the form of key pairs; HS256 needs random bytes');
    return createSecretKey(Buffer.from(secret, 'utf8'));
  }
  if (!isJwk(secret)) return refuse(`must be a text, bytes, a KeyObject or a JWK, not ${kindOf(secret)}`);
  const { kty, k } = secret;
  if (kty !== 'oct' || typeof k !== 'string') return refuse('must be a JWK with kty "oct" and the secret as "k"');
  checkAlgorithm(secret, ['HS256'], refuse);
  const bytes = Buffer.from(k, 'base64url');
  if (bytes.toString('base64url') !== k) refuse('has a "k" that is not base64url without padding');
  return createSecretKey(bytes);
}

type Parsable = string | { readonly key: JsonWebKey; readonly format: 'jwk' };

function parsable(input: unknown, refuse: Refuse): Parsable {
  if (typeof input === 'string')
    return isPem(input) ? input : refuse('is a text, but no PEM: it must begin with -----BEGIN');
  if (!isJwk(input)) return refuse(`must be a PEM text, a KeyObject or a JWK, not ${kindOf(input)}`);
  if (input.kty !== 'OKP' || input['crv'] !== 'Ed25519')
    return refuse('must be a JWK with kty "OKP" and crv "Ed25519"');
  checkAlgorithm(input, ['EdDSA', 'Ed25519'], refuse);
  return { key: input, format: 'jwk' };
}

function parse(input: unknown, read: (input: Parsable) => KeyObject, refuse: Refuse): KeyObject {
  const readable = parsable(input, refuse);
  try {
    return read(readable);
  } catch {
    // The error of Node is dropped: some of its texts have values of the JWK.
    return refuse(
      'cannot be read. Is it whole? One with a passphrase goes through crypto.createPrivateKey({ key, passphrase })',
    );
  }
}

function ofEd25519(key: KeyObject, refuse: Refuse): KeyObject {
  return key.asymmetricKeyType === 'ed25519' ? key : refuse(`is a key for ${key.asymmetricKeyType}, not for Ed25519`);
}

function checkAlgorithm(jwk: JsonWebKey, fitting: readonly string[], refuse: Refuse): void {
  const { alg } = jwk;
  if (alg !== undefined && !(typeof alg === 'string' && fitting.includes(alg)))
    refuse(`is a JWK for another algorithm, not for ${fitting[0]}`);
}

function isPrivate(input: unknown): boolean {
  if (input instanceof KeyObject) return input.type === 'private';
  return typeof input === 'string' ? input.includes('PRIVATE KEY-----') : isJwk(input) && 'd' in input;
}

function isPem(text: string): boolean {
  return text.trimStart().startsWith('-----BEGIN ');
}

function isJwk(input: unknown): input is JsonWebKey {
  return typeof input === 'object' && input !== null && 'kty' in input;
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  return typeof value === 'object' ? 'an object without "kty"' : `a ${typeof value}`;
}

function refusal(what: string): Refuse {
  return (why) => {
    throw new LockConfigurationError(`${what} ${why}`);
  };
}
