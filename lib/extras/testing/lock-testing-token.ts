import { Inject, type InjectionToken } from '@nestjs/common';
import { DEFAULT_CONNECTION } from '../../nest/lock-service-token.js';
import { refuseMissingParentheses } from '../../nest/metadata.js';
import { LockTesting } from './lock-testing.js';

/**
 * For `module.get(getLockTestingToken('orders'))`. The token of the default connection is the class `LockTesting`
 * itself.
 */
export function getLockTestingToken(name: string = DEFAULT_CONNECTION): InjectionToken<LockTesting> {
  return name === DEFAULT_CONNECTION ? LockTesting : `LockTesting(${name})`;
}

const NO_NAME =
  "it would inject nothing. Write @InjectLockTesting(), or @InjectLockTesting('orders') for a connection with that name";

/** Injects the `LockTesting` of a named connection. */
export function InjectLockTesting(name?: string): ParameterDecorator & PropertyDecorator;
export function InjectLockTesting(
  name: string = DEFAULT_CONNECTION,
  ...bare: unknown[]
): ParameterDecorator & PropertyDecorator {
  refuseMissingParentheses('@InjectLockTesting', [name, ...bare], NO_NAME);
  return Inject(getLockTestingToken(name));
}
