import { LockConfigurationError } from './errors.js';
import { shown } from './shown.js';

/**
 * Refuses anything but a function at once. Otherwise the mistake would show only after the lock was waited for.
 * @param argument the name of the argument in the documentation
 * @param instead the call as it should be written
 * @throws LockConfigurationError
 */
export function checkFunction(argument: string, value: unknown, instead: string, key?: unknown): void {
  if (typeof value === 'function') return;
  const text = `${argument}: must be a function, not ${shown(value)}. Write ${instead}`;
  // Where the caller has swapped the arguments, the function may be in the key's place.
  throw new LockConfigurationError(text, typeof key === 'string' ? key : undefined);
}
