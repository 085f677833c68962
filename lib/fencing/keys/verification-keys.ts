import { LockConfigurationError } from '../../lock/errors.js';
import { type BoundKey, Ed25519BoundKey, HmacBoundKey } from './bound-key.js';
import { type Ed25519Input, readPublicKey, readSecret, type SecretInput } from './key-material.js';

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

/** A key whose tokens are accepted. */
export type VerificationKey = (HmacKey | Ed25519PublicKey) & {
  /** Tokens of this key must come from this issuer. @default any */
  readonly issuer?: string;
};

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
  readonly #keys = new Map<string, BoundKey>();

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
      this.#keys.set(key.id, bind(key, where));
    }
    this.ids = Object.freeze([...this.#keys.keys()]);
  }

  /** @internal */
  find(id: string): BoundKey | undefined {
    return this.#keys.get(id);
  }
}

/** How errors call a key. @throws LockConfigurationError for an id that can be none */
export function nameKey(by: string, key: Partial<VerificationKey> | null | undefined): string {
  const id: unknown = key?.id;
  if (typeof id === 'string' && id.length <= MAX_ID_LENGTH && ID.test(id)) return `${by}: key ${JSON.stringify(id)}`;
  throw new LockConfigurationError(
    `${by}: a key must have an id, 1 to ${MAX_ID_LENGTH} visible ASCII characters without spaces, such as '2025-06'`,
  );
}

/** @throws LockConfigurationError */
export function checkIssuer(issuer: unknown, where: string): void {
  if (typeof issuer === 'string' && issuer !== '') return;
  throw new LockConfigurationError(`${where}: issuer must be a non-empty text: who signs, such as 'orders-service'`);
}

function bind(key: VerificationKey, where: string): BoundKey {
  if (key.issuer !== undefined) checkIssuer(key.issuer, where);
  switch (key.algorithm) {
    case 'HS256':
      return new HmacBoundKey(readSecret(key.secret, where), key.issuer);
    case 'Ed25519':
      return new Ed25519BoundKey(readPublicKey(key.publicKey, where), key.issuer);
    default:
      return refuseAlgorithm(key, where);
  }
}

export function refuseAlgorithm(key: { readonly algorithm: unknown }, where: string): never {
  throw new LockConfigurationError(`${where}: algorithm must be HS256 or Ed25519, not ${String(key.algorithm)}`);
}
