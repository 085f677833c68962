import { types } from 'node:util';
import { LockConfigurationError } from '../lock/errors.js';
import { onOneLine } from './on-one-line.js';

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
    `${onOneLine(resource)}: ${source} is ${kindOf(content)}, and must be the content as text or as a Uint8Array (a Buffer is one). ` +
      'Nothing was written',
    resource,
  );
}

export function kindOf(content: unknown): string {
  if (content === null || content === undefined) return String(content);
  if (typeof content !== 'object') return `a ${typeof content}`;
  return Object.prototype.toString.call(content).slice('[object '.length, -1);
}
