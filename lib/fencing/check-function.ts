import { LockConfigurationError } from '../lock/errors.js';
import { kindOf } from './new-content.js';
import { onOneLine } from './on-one-line.js';

/**
 * What a store is to run is asked for before its claim: a claim raises the mark, and shuts out earlier holders.
 * @param call how it is written, with the function as its last argument
 * @throws LockConfigurationError
 */
export function checkFunction(call: string, value: unknown, resource: unknown): void {
  if (typeof value === 'function') return;
  throw new LockConfigurationError(
    `${onOneLine(resource)}: ${call} takes a function as its last argument, not ${kindOf(value)}. Nothing was claimed or written`,
    typeof resource === 'string' ? resource : undefined,
  );
}
