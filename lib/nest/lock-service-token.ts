import { Inject, type InjectionToken } from '@nestjs/common';
import { LockService } from '../engine/lock-service.js';
import { refuseMissingParentheses } from './metadata.js';

export const DEFAULT_CONNECTION = 'default';

/**
 * The token by which one of several connections is injected. That of the default one is the class `LockService` itself. Nest
 * prints the token where it cannot resolve it, so the text says who provides it, as the name of the class does.
 */
export function getLockServiceToken(name: string = DEFAULT_CONNECTION): InjectionToken<LockService> {
  if (name === DEFAULT_CONNECTION) return LockService;
  return (
    `LockService '${name}' (provided by DistributedLockModule.forRoot({ name: '${name}', ... }), in a test by ` +
    `...provideLockTesting({ name: '${name}' }) from nestjs-zookeeper-lock/testing)`
  );
}

const NO_NAME =
  "it would inject nothing. Write @InjectLock(), or @InjectLock('orders') for a connection with that name";

/** Injects the lock service of a named connection: `@InjectLock('orders') private readonly locks: LockService`. */
export function InjectLock(name?: string): ParameterDecorator & PropertyDecorator;
export function InjectLock(
  name: string = DEFAULT_CONNECTION,
  ...bare: unknown[]
): ParameterDecorator & PropertyDecorator {
  refuseMissingParentheses('@InjectLock', [name, ...bare], NO_NAME);
  return Inject(getLockServiceToken(name));
}
