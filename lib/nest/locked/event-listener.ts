import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { LockConfigurationError, LockError, LockLostError } from '../../lock/errors.js';
import { isNewToLog } from '../log-lock-error.js';
import type { LockedPlan } from './locked-call.js';

/** Where `@OnEvent` of `@nestjs/event-emitter` notes what a method listens to. The key is part of what that package exports. */
const LISTENED_TO = 'EVENT_LISTENER_METADATA';
/** Where `@EventPattern` and `@MessagePattern` of `@nestjs/microservices` note which of the two a handler has. */
const HANDLER_KIND = 'microservices:handler_type';
/** The note of `@EventPattern`. */
const OF_EVENTS = 2;

/**
 * Tells the log of a call for an event that failed: its caller learns nothing. The event emitter logs only the `message` of an
 * error, which names neither key nor method. Of an event that came over RPC Nest tells nobody anything. Not told is the error
 * of a listener with `suppressErrors: false`: the publisher gets it.
 */
export function tellOfEvent(error: unknown, instance: unknown, plan: LockedPlan, hasRun: boolean): void {
  if (!(error instanceof LockError) || !listensAlone(instance, plan.method)) return;
  // The connection's own log tells of every lock that is lost.
  const isToldElsewhere = error instanceof LockLostError && error.evidence !== undefined;
  if (isToldElsewhere || !isNewToLog(error)) return;
  const text = `${plan.by} ${hasRun ? 'failed at' : 'did not run for'} an event. ${error.code}: ${error.details}`;
  const logger = new Logger('Locked');
  if (error instanceof LockConfigurationError) logger.error(text, error.stack);
  else logger.warn(text);
}

/** The method is looked up as the event emitter does: decorators above `@Locked` may have put another function in its place. */
function listensAlone(instance: unknown, method: string | symbol): boolean {
  const member: unknown = (instance as Record<string | symbol, unknown> | undefined)?.[method];
  if (typeof member !== 'function') return false;
  if (Reflect.getMetadata(HANDLER_KIND, member) === OF_EVENTS) return true;
  const listens = Reflect.getMetadata(LISTENED_TO, member) as
    readonly { options?: { suppressErrors?: boolean } }[] | undefined;
  return listens?.some(({ options }) => options?.suppressErrors !== false) === true;
}
