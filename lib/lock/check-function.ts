import { LockConfigurationError } from './errors.js';
import { shown } from './shown.js';

/**
 * JavaScript lets anything pass for a function until it is called, and what a lock is to run is called when the lock has been waited for.
 * @param argument what the documentation calls it
 * @param instead the call as it should be written
 * @throws LockConfigurationError
 */
export function checkFunction(argument: string, value: unknown, instead: string, key?: unknown): void {
  if (typeof value === 'function') return;
  const text = `${argument}: must be a function, not ${shown(value)}. Write ${instead}`;
  // Where the arguments change places, the function may stand for the key.
  throw new LockConfigurationError(text, typeof key === 'string' ? key : undefined);
}
