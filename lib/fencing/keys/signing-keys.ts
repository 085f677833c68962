import { createPublicKey } from 'node:crypto';
import { LockConfigurationError } from '../../lock/errors.js';
import { type BoundSigningKey, Ed25519BoundSigningKey, HmacBoundKey } from './bound-key.js';
import { type Ed25519Input, readPrivateKey, readSecret } from './key-material.js';
import {
  checkIssuer,
  type HmacKey,
  nameKey,
  refuseAlgorithm,
  type VerificationKey,
  VerificationKeys,
} from './verification-keys.js';

/** The private half of a pair. */
export interface Ed25519PrivateKey {
  /** What tokens call the key by: any short text, another for each key there ever was. */
  readonly id: string;
  readonly algorithm: 'Ed25519';
  readonly privateKey: Ed25519Input;
}

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

/** The key to sign with, and the keys whose tokens are accepted. A service that signs can verify, too. */
export class SigningKeys extends VerificationKeys {
  readonly issuer: string;
  /** The id of the key that signs. */
  readonly currentId: string;
  readonly #current: BoundSigningKey;

  /** @throws LockConfigurationError that names the key and what is wrong with it */
  constructor(options: SigningKeysOptions) {
    super(verificationKeysOf(options));
    this.issuer = options.issuer;
    this.currentId = options.current.id;
    this.#current = bindToSign(options.current, options.issuer);
  }

  /** @internal */
  get current(): BoundSigningKey {
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

function bindToSign(key: SigningKey, issuer: string): BoundSigningKey {
  const where = nameKey(BY, key);
  switch (key.algorithm) {
    case 'HS256':
      return new HmacBoundKey(readSecret(key.secret, where), issuer);
    case 'Ed25519':
      return new Ed25519BoundSigningKey(readPrivateKey(key.privateKey, where), issuer);
    default:
      return refuseAlgorithm(key, where);
  }
}
