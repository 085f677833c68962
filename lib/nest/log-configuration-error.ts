import { Logger } from '@nestjs/common';
import { LockConfigurationError } from '../lock/errors.js';

const logged = new WeakSet<LockConfigurationError>();

/**
 * Tells the log of a lock that is not used as it must be. Nobody else would: callers get "Internal server error", and what
 * answers with a status of its own is not logged by Nest. Once, however many pass the error on.
 */
export function logConfigurationError(error: unknown): void {
  if (!(error instanceof LockConfigurationError) || logged.has(error)) return;
  logged.add(error);
  new Logger('Locked').error(error.message, error.stack);
}
