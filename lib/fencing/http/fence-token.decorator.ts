import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { LockConfigurationError } from '../../lock/errors.js';
import { NamedNotes, refuseMissingParentheses } from '../../nest/metadata.js';
import { acceptedToken } from './accepted-token.js';

const takingToken = new NamedNotes<true>();

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
    takingToken.set(target, method, true);
    VerifiedTokenOfRequest()(target, method, index);
  };
}

/** Whether a method has a parameter with `@FenceToken()`, in this class or in one that it extends. */
export function takesFenceToken(prototype: object, method: string): boolean {
  return takingToken.nearest(prototype, method) === true;
}
