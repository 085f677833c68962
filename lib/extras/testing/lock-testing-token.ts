import { Inject, type InjectionToken } from '@nestjs/common';
import { DEFAULT_CONNECTION } from '../../nest/lock-service-token.js';
import { LockTesting } from './lock-testing.js';

/** `module.get(getLockTestingToken('orders'))`; the default connection's token is the class `LockTesting` itself. */
export function getLockTestingToken(name: string = DEFAULT_CONNECTION): InjectionToken<LockTesting> {
  return name === DEFAULT_CONNECTION ? LockTesting : `LockTesting(${name})`;
}

/** Injects the handles of a named connection. */
export function InjectLockTesting(name: string = DEFAULT_CONNECTION): ParameterDecorator & PropertyDecorator {
  return Inject(getLockTestingToken(name));
}
