import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { LockConfigurationError } from '../../../lock/errors.js';
import { refuseMissingParentheses } from '../../../nest/locked/parameter.decorators.js';
import { acceptedToken } from './accepted-token.js';

const methodsByPrototype = new WeakMap<object, Set<string | symbol>>();

const VerifiedTokenOfRequest = createParamDecorator((_data: unknown, context: ExecutionContext): bigint => {
  const accepted = acceptedToken(context.switchToHttp().getRequest<object>());
  if (accepted !== undefined) return accepted.token;
  throw new LockConfigurationError('@FenceToken() is filled by @RequireFence, which did not run for this call');
});

/**
 * The fencing token that `@RequireFence` let in: `save(@FenceToken() token: bigint)`. Hand it to the store that the
 * handler writes to: the guard compared it before the handler began, and only the store can when it writes.
 */
export function FenceToken(): ParameterDecorator;
export function FenceToken(...bare: unknown[]): ParameterDecorator {
  refuseMissingParentheses('@FenceToken', bare, 'it would fill nothing. Write @FenceToken()');
  return (target, method, index) => {
    if (method === undefined || typeof target === 'function') {
      throw new LockConfigurationError('@FenceToken() is for parameters of methods that have @RequireFence');
    }
    const methods = methodsByPrototype.get(target) ?? new Set();
    methodsByPrototype.set(target, methods.add(method));
    VerifiedTokenOfRequest()(target, method, index);
  };
}

/** Of a class and those it extends. */
export function methodsWithFenceToken(prototype: object): ReadonlySet<string | symbol> {
  const found = new Set<string | symbol>();
  for (let at: object | null = prototype; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    for (const method of methodsByPrototype.get(at) ?? []) found.add(method);
  }
  return found;
}
