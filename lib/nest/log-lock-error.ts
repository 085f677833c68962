import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import {
  LockAbandonedError,
  LockConfigurationError,
  LockError,
  LockLostError,
  LockUnavailableError,
} from '../lock/errors.js';
import type { LockedPlan } from './locked/locked-call.js';

/** Where `@OnEvent` of `@nestjs/event-emitter` notes what a method listens to. The key is part of what that package exports. */
const LISTENED_TO = 'EVENT_LISTENER_METADATA';
/** Where `@EventPattern` and `@MessagePattern` of `@nestjs/microservices` note which of the two a handler has. */
const HANDLER_KIND = 'microservices:handler_type';
/** The note of `@EventPattern`. */
const OF_EVENTS = 2;

const logged = new WeakSet<Error>();

/**
 * Tells the log what callers from outside are not told: that a lock is misused, which server was unavailable, or that a key is
 * closed until somebody repairs what its last holder left. Nobody else would: Nest does not log an error that answers with a
 * status of its own. An error is told once, however many pass it on.
 */
export function logLockError(error: unknown): void {
  if (error instanceof LockConfigurationError && isNewToLog(error)) {
    new Logger('Locked').error(error.details, error.stack);
  }
  const isForOperators = error instanceof LockUnavailableError || error instanceof LockAbandonedError;
  if (isForOperators && isNewToLog(error)) new Logger('Locked').warn(error.details);
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
function isNewToLog(error: Error): boolean {
  if (logged.has(error)) return false;
  countAsLogged(error);
  return true;
}

/**
 * Tells the log of a call for an event that failed: its caller learns nothing. The event emitter logs only the `message` of an
 * error, which names neither key nor method. Of an event that came over RPC Nest tells nobody anything. Not told is the error
 * of a listener with `suppressErrors: false`: the publisher gets it.
 */
export function tellOfEvent(error: unknown, instance: unknown, { by, method }: LockedPlan, hasRun: boolean): void {
  if (!(error instanceof LockError) || !listensAlone(instance, method)) return;
  // The connection's own log tells of every lock that is lost.
  const isToldElsewhere = error instanceof LockLostError && error.evidence !== undefined;
  if (isToldElsewhere || !isNewToLog(error)) return;
  const text = `${by} ${hasRun ? 'failed at' : 'did not run for'} an event. ${error.code}: ${error.details}`;
  const logger = new Logger('Locked');
  if (error instanceof LockConfigurationError) logger.error(text, error.stack);
  else logger.warn(text);
}

function listensAlone(instance: unknown, method: string | symbol): boolean {
  // Decorators above `@Locked` may have put another function in its place, and the event emitter looks at that one.
  const member: unknown = (instance as Record<string | symbol, unknown> | undefined)?.[method];
  if (typeof member !== 'function') return false;
  if (Reflect.getMetadata(HANDLER_KIND, member) === OF_EVENTS) return true;
  const listens = Reflect.getMetadata(LISTENED_TO, member) as
    readonly { options?: { suppressErrors?: boolean } }[] | undefined;
  return listens?.some(({ options }) => options?.suppressErrors !== false) === true;
}
