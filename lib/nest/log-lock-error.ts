import { Logger } from '@nestjs/common';
import { LockConfigurationError, LockError, LockUnavailableError } from '../lock/errors.js';

const logged = new WeakSet<Error>();

/**
 * Tells the log what those who call from outside are not told: that a lock is not used as it must be, or which server was
 * not to be had. Nobody else would, as Nest does not log what answers with a status of its own. Once, however many pass
 * the error on.
 */
export function logLockError(error: unknown): void {
  if (error instanceof LockConfigurationError && isNewToLog(error)) {
    new Logger('Locked').error(error.details, error.stack);
  }
  if (error instanceof LockUnavailableError && isNewToLog(error)) new Logger('Locked').warn(error.details);
}

/** The same of what ends the start: an application may say no more of it than the `message`. @returns the error */
export function logFailedStart(error: unknown): unknown {
  if (error instanceof LockError && isNewToLog(error)) new Logger('LockService').error(error.details);
  return error;
}

/** The same of any lock error that goes outside; those that come from what others do, only where debugging is wanted. */
export function logRefusal(error: LockError): void {
  logLockError(error);
  if (isNewToLog(error)) new Logger('Locked').debug(`${error.code}: ${error.details}`);
}

/** It was told of in another way, or with others of its kind. */
export function countAsLogged(error: Error): void {
  logged.add(error);
}

/** Asked once for each error: from then on it counts as logged. */
export function isNewToLog(error: Error): boolean {
  if (logged.has(error)) return false;
  countAsLogged(error);
  return true;
}
