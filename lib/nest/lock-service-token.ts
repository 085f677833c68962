import { Inject, type InjectionToken } from '@nestjs/common';
import { LockService } from '../engine/lock-service.js';

export const DEFAULT_CONNECTION = 'default';

/** The token by which one of several connections is injected. That of the default one is the class `LockService` itself. */
export function getLockServiceToken(name: string = DEFAULT_CONNECTION): InjectionToken<LockService> {
  return name === DEFAULT_CONNECTION ? LockService : `LockService(${name})`;
}

/** Injects the lock service of a named connection: `@InjectLock('orders') private readonly locks: LockService`. */
export function InjectLock(name: string = DEFAULT_CONNECTION): ParameterDecorator & PropertyDecorator {
  return Inject(getLockServiceToken(name));
}
