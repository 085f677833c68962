import { inspect, types } from 'node:util';
import { InvalidLockKeyError, LockConfigurationError } from '../lock/errors.js';
import { visible } from '../lock/visible.js';
import type { FenceSettings } from './fence.js';
import { kindOf, quoted } from './shown.js';
import { VerificationKeys } from './signed/keys.js';

/** No key of a lock is longer, and a store can keep a name of this size beside the content. */
const MAX_BYTES = 4 * 1024;
const SHOWN_CHARACTERS = 80;

/** @throws InvalidLockKeyError for what cannot name a resource in every store */
export function checkResource(resource: unknown): void {
  const fault = faultOf(resource);
  if (fault === undefined) return;
  const isText = typeof resource === 'string';
  const shown = isText ? quoted(resource, SHOWN_CHARACTERS) : inspect(resource, { depth: 0, breakLength: Infinity });
  throw new InvalidLockKeyError(
    `Not the name of a resource: ${shown} ${fault}. It is a non-empty text, such as the key of the lock ` +
      'that protects it',
  );
}

function faultOf(resource: unknown): string | undefined {
  if (typeof resource !== 'string') return 'is no text';
  if (resource === '') return 'is empty';
  if (resource.includes('\0')) return 'has a NUL in it';
  // Stores write half a pair as the replacement character, so two names would become one.
  if (/\p{Surrogate}/u.test(resource)) return 'has half of a surrogate pair, so it is no Unicode text';
  const bytes = Buffer.byteLength(resource);
  return bytes > MAX_BYTES ? `has ${bytes} bytes, of ${MAX_BYTES} at most` : undefined;
}

/**
 * What a store is to run is asked for before its claim: a claim raises the mark, and shuts out earlier holders.
 * @param call how it is written, with the function as its last argument
 * @throws LockConfigurationError
 */
export function checkFunction(call: string, value: unknown, resource: unknown): void {
  if (typeof value === 'function') return;
  throw new LockConfigurationError(
    `${visible(String(resource))}: ${call} takes a function as its last argument, not ${kindOf(value)}. Nothing was claimed or written`,
    typeof resource === 'string' ? resource : undefined,
  );
}

export type NewContent = string | Uint8Array;

/**
 * Copies the content: the caller may change its own bytes afterwards, and the store must keep what it was given.
 * @param source what the error calls the content
 * @throws LockConfigurationError for anything but text and bytes: the numbers of other arrays would be cut to bytes
 */
export function bytesOf(content: NewContent, resource: string, source: string): Buffer {
  if (typeof content === 'string') return Buffer.from(content);
  if (types.isUint8Array(content)) return Buffer.from(content);
  throw new LockConfigurationError(
    `${visible(resource)}: ${source} is ${kindOf(content)}, and must be the content as text or as a Uint8Array (a Buffer is one). ` +
      'Nothing was written',
    resource,
  );
}

/** The names of `FenceSettings`, which every store takes beside its own. */
const SETTINGS: readonly (keyof FenceSettings)[] = ['keys', 'lockKey'];

/**
 * Checks the names of a store's options, and the options that all stores share. A store whose `keys` is misspelt would have
 * none, and take any number.
 * @param own the names of the store's own options, the one that it needs first
 * @throws LockConfigurationError that names the store, the option and what was expected
 */
export function checkSettings<Options extends FenceSettings>(
  store: string,
  options: Options,
  own: readonly Exclude<keyof Options & string, keyof FenceSettings>[],
): void {
  const refuse = (what: string): never => {
    throw new LockConfigurationError(`${store}: ${what}`);
  };
  checkNames(options, [...own, ...SETTINGS], refuse);
  checkKeys(options.keys, refuse);
  if (options.lockKey !== undefined && typeof options.lockKey !== 'function') {
    refuse('lockKey: must be a function that gives the key of the lock of a resource');
  }
}

export function checkNames(options: object, known: readonly string[], refuse: (what: string) => never): void {
  if (typeof options !== 'object' || options === null) {
    refuse(`the options must be an object such as { ${String(known[0])} }`);
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) refuse(`${unknown}: is not an option (the options are: ${known.join(', ')})`);
}

export function checkKeys(keys: unknown, refuse: (what: string) => never): void {
  if (keys !== undefined && !(keys instanceof VerificationKeys)) {
    refuse('keys: must be made with new VerificationKeys(...) or new SigningKeys(...)');
  }
}
