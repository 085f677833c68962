import { Logger } from '@nestjs/common';
import { LockConfigurationError, LockError, LockUnavailableError } from '../lock/errors.js';

const logged = new WeakSet<Error>();

/**
 * Tells the log what callers from outside are not told: that a lock is misused, or which server was unavailable. Nobody else
 * would: Nest does not log an error that answers with a status of its own. An error is told once, however many pass it on.
 */
export function logLockError(error: unknown): void {
  if (error instanceof LockConfigurationError && isNewToLog(error)) {
    new Logger('Locked').error(error.details, error.stack);
  }
  if (error instanceof LockUnavailableError && isNewToLog(error)) new Logger('Locked').warn(error.details);
}

/** Tells the log of an error that ends the start: an application may print its `message` alone. @returns the error */
export function logFailedStart(error: unknown): unknown {
  if (error instanceof LockError && isNewToLog(error)) new Logger('LockService').error(error.details);
  return error;
}

/** Tells the log of any lock error that goes outside. Refusals that others or the caller caused are told at the level debug. */
export function logRefusal(error: LockError): void {
  logLockError(error);
  if (isNewToLog(error)) new Logger('Locked').debug(`${error.code}: ${error.details}`);
}

/** Counts an error as logged that was told in another way, or with others of its kind. */
export function countAsLogged(error: Error): void {
  logged.add(error);
}

/** Whether an error has not been logged. From this question on it counts as logged. */
export function isNewToLog(error: Error): boolean {
  if (logged.has(error)) return false;
  countAsLogged(error);
  return true;
}
