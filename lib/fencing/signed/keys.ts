import { createHmac, createPublicKey, type KeyObject, sign, timingSafeEqual, verify } from 'node:crypto';
import { LockConfigurationError } from '../../lock/errors.js';
import { type Ed25519Input, readPrivateKey, readPublicKey, readSecret, type SecretInput } from './key-material.js';

/** A secret that signers and verifiers share: whoever verifies could sign as well. */
export interface HmacKey {
  /** What tokens call the key by: any short text, another for each key there ever was. */
  readonly id: string;
  readonly algorithm: 'HS256';
  /** 32 random bytes or more. */
  readonly secret: SecretInput;
}

/** The public half of a pair: whoever has it verifies, and cannot sign. */
export interface Ed25519PublicKey {
  /** What tokens call the key by: any short text, another for each key there ever was. */
  readonly id: string;
  readonly algorithm: 'Ed25519';
  readonly publicKey: Ed25519Input;
}

/** The private half of a pair. */
export interface Ed25519PrivateKey {
  /** What tokens call the key by: any short text, another for each key there ever was. */
  readonly id: string;
  readonly algorithm: 'Ed25519';
  readonly privateKey: Ed25519Input;
}

/** A key whose tokens are accepted. */
export type VerificationKey = (HmacKey | Ed25519PublicKey) & {
  /** Tokens of this key must come from this issuer. @default any */
  readonly issuer?: string;
};

/** A key to sign with. */
export type SigningKey = HmacKey | Ed25519PrivateKey;

export interface SigningKeysOptions {
  /** The name of the service that signs, which stands in every token. */
  readonly issuer: string;
  /** The key that new tokens are signed with. */
  readonly current: SigningKey;
  /** Keys whose tokens are accepted besides: the one before, or the next one. @default none */
  readonly accepted?: readonly (VerificationKey | SigningKey)[];
}

/** What verifies. A key can do one thing only: which algorithm it is for is said with the key, never by a token. */
interface Verifier {
  /** As the header of a signed token names it. */
  readonly algorithm: 'HS256' | 'EdDSA';
  /** The only issuer whose tokens this key may have signed; undefined for any. */
  readonly issuer: string | undefined;
  verifies(text: string, signature: Uint8Array): boolean;
}

interface Signer {
  readonly algorithm: Verifier['algorithm'];
  sign(text: string): Buffer;
}

const MAX_ID_LENGTH = 128;
/** Characters that can stand in a log line without harm. */
const ID = /^[\x21-\x7e]+$/;

/**
 * The keys whose tokens are accepted, found by their ids. They are checked when they are made, so that a wrong key stops the
 * start and not the first request. Neither `util.inspect` nor JSON shows anything of them but their ids.
 */
export class VerificationKeys {
  /** The ids of all keys. */
  readonly ids: readonly string[];
  readonly #keys = new Map<string, Verifier>();

  /** @throws LockConfigurationError that names the key and what is wrong with it */
  constructor(keys: readonly VerificationKey[]) {
    const by = new.target.name;
    if (!Array.isArray(keys) || keys.length === 0) {
      throw new LockConfigurationError(`${by}: must be given a list of keys, not empty: [{ id, algorithm, ... }]`);
    }
    for (const key of keys as readonly VerificationKey[]) {
      const where = nameKey(by, key);
      if (this.#keys.has(key.id)) {
        throw new LockConfigurationError(
          `${where}: there is another key with this id, and tokens name their key by it`,
        );
      }
      this.#keys.set(key.id, verifierOf(key, where));
    }
    this.ids = Object.freeze([...this.#keys.keys()]);
  }

  /** @internal */
  find(id: string): Verifier | undefined {
    return this.#keys.get(id);
  }
}

/** The key to sign with, and the keys whose tokens are accepted. A service that signs can verify, too. */
export class SigningKeys extends VerificationKeys {
  readonly issuer: string;
  /** The id of the key that signs. */
  readonly currentId: string;
  readonly #current: Signer;

  /** @throws LockConfigurationError that names the key and what is wrong with it */
  constructor(options: SigningKeysOptions) {
    super(verificationKeysOf(options));
    this.issuer = options.issuer;
    this.currentId = options.current.id;
    this.#current = signerOf(options.current, nameKey(BY, options.current));
  }

  /** @internal */
  get current(): Signer {
    return this.#current;
  }
}

const BY = 'SigningKeys';

function verificationKeysOf(options: SigningKeysOptions): VerificationKey[] {
  if (typeof options !== 'object' || options === null) {
    throw new LockConfigurationError(`${BY}: must be given { issuer, current: { id, algorithm, ... } }`);
  }
  const { issuer, current, accepted = [] } = options;
  checkIssuer(issuer, BY);
  if (!Array.isArray(accepted)) throw new LockConfigurationError(`${BY}: accepted must be a list of keys`);
  const others = accepted as readonly (VerificationKey | SigningKey)[];
  return [{ ...publicHalf(current), issuer }, ...others.map(publicHalf)];
}

/** The half of a key that verifies. A key to sign with is checked on the way. */
function publicHalf(key: VerificationKey | SigningKey): VerificationKey {
  const where = nameKey(BY, key);
  if (key.algorithm === 'HS256' || !('privateKey' in key)) return key;
  const { id, algorithm, privateKey } = key;
  return { id, algorithm, publicKey: createPublicKey(readPrivateKey(privateKey, where)) };
}

/** How errors call a key. @throws LockConfigurationError for an id that can be none */
function nameKey(by: string, key: Partial<VerificationKey> | null | undefined): string {
  const id: unknown = key?.id;
  if (typeof id === 'string' && id.length <= MAX_ID_LENGTH && ID.test(id)) return `${by}: key ${JSON.stringify(id)}`;
  throw new LockConfigurationError(
    `${by}: a key must have an id, 1 to ${MAX_ID_LENGTH} visible ASCII characters without spaces, such as '2025-06'`,
  );
}

/** @throws LockConfigurationError */
function checkIssuer(issuer: unknown, where: string): void {
  if (typeof issuer === 'string' && issuer !== '') return;
  throw new LockConfigurationError(`${where}: issuer must be a non-empty text: who signs, such as 'orders-service'`);
}

// The functions below keep a key where only they find it, so that no log, copy or JSON of what they return shows it.

function verifierOf(key: VerificationKey, where: string): Verifier {
  const { issuer } = key;
  if (issuer !== undefined) checkIssuer(issuer, where);
  switch (key.algorithm) {
    case 'HS256':
      return { algorithm: 'HS256', issuer, verifies: hmacVerifier(readSecret(key.secret, where)) };
    case 'Ed25519': {
      const publicKey = readPublicKey(key.publicKey, where);
      const verifies: Verifier['verifies'] = (text, signature) => verify(null, Buffer.from(text), publicKey, signature);
      return { algorithm: 'EdDSA', issuer, verifies };
    }
    default: {
      const { algorithm }: { readonly algorithm: unknown } = key;
      throw new LockConfigurationError(`${where}: algorithm must be HS256 or Ed25519, not ${String(algorithm)}`);
    }
  }
}

function hmacVerifier(key: KeyObject): Verifier['verifies'] {
  return (text, signature) => {
    const expected = hmac(key, text);
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  };
}

/** Signs with a key whose algorithm is known to be one of ours. */
function signerOf(given: SigningKey, where: string): Signer {
  if (given.algorithm === 'HS256') {
    const key = readSecret(given.secret, where);
    return { algorithm: 'HS256', sign: (text) => hmac(key, text) };
  }
  const key = readPrivateKey(given.privateKey, where);
  return { algorithm: 'EdDSA', sign: (text) => sign(null, Buffer.from(text), key) };
}

function hmac(key: KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
