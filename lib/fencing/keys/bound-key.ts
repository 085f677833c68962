import { createHmac, createPublicKey, type KeyObject, sign, timingSafeEqual, verify } from 'node:crypto';

/** An algorithm, as the header of a signed token names it. */
export type JoseAlgorithm = 'HS256' | 'EdDSA';

/** A key that can do one thing only: which algorithm it is for is said with the key, never by a token. */
export interface BoundKey {
  readonly algorithm: JoseAlgorithm;
  /** The only issuer whose tokens this key may have signed; undefined for any. */
  readonly issuer: string | undefined;
  verifies(text: string, signature: Uint8Array): boolean;
}

export interface BoundSigningKey extends BoundKey {
  sign(text: string): Buffer;
}

/** A shared secret. The key is in a private field, so that no log, copy or JSON of the object around it shows it. */
export class HmacBoundKey implements BoundSigningKey {
  readonly algorithm = 'HS256';
  readonly #secret: KeyObject;

  constructor(
    secret: KeyObject,
    readonly issuer: string | undefined,
  ) {
    this.#secret = secret;
  }

  sign(text: string): Buffer {
    return createHmac('sha256', this.#secret).update(text).digest();
  }

  verifies(text: string, signature: Uint8Array): boolean {
    const expected = this.sign(text);
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  }
}

export class Ed25519BoundKey implements BoundKey {
  readonly algorithm = 'EdDSA';
  readonly #publicKey: KeyObject;

  constructor(
    publicKey: KeyObject,
    readonly issuer: string | undefined,
  ) {
    this.#publicKey = publicKey;
  }

  verifies(text: string, signature: Uint8Array): boolean {
    return verify(null, Buffer.from(text), this.#publicKey, signature);
  }
}

export class Ed25519BoundSigningKey extends Ed25519BoundKey implements BoundSigningKey {
  readonly #privateKey: KeyObject;

  constructor(privateKey: KeyObject, issuer: string | undefined) {
    super(createPublicKey(privateKey), issuer);
    this.#privateKey = privateKey;
  }

  sign(text: string): Buffer {
    return sign(null, Buffer.from(text), this.#privateKey);
  }
}
