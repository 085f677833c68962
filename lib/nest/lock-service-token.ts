import { Inject, type InjectionToken } from '@nestjs/common';
import { LockService } from '../engine/lock-service.js';
import { refuseMissingParentheses } from './locked/missing-parentheses.js';

export const DEFAULT_CONNECTION = 'default';

/** The token by which one of several connections is injected. That of the default one is the class `LockService` itself. */
export function getLockServiceToken(name: string = DEFAULT_CONNECTION): InjectionToken<LockService> {
  return name === DEFAULT_CONNECTION ? LockService : `LockService(${name})`;
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
