import { createParamDecorator, type ExecutionContext, UseGuards } from '@nestjs/common';
import { LockConfigurationError } from '../../lock/errors.js';
import { type CheckedPath, type LockKeyValues, lockKeyTemplate } from '../../nest/locked/key-template.js';
import { NamedNotes, refuseMissingParentheses } from '../../nest/metadata.js';
import { checkNames } from '../checks.js';
import { FenceGuard } from './fence.guard.js';
import { acceptedTokens, fencedMethods, setFencePlan } from './fence-plan.js';

export interface RequireFenceOptions<Path extends string = string> {
  /**
   * Makes the values of the placeholders from the route parameters. It is needed where the handler reads a parameter as
   * something else than text, as one resource must have one key: `keys: ({ id }) => ({ id: Number(id) })` beside a
   * `ParseIntPipe`. It must be given for a wildcard, whose segments come joined by `/`: adapters call it by different names.
   * @default the route parameters of the same names, as they came
   */
  readonly keys?: (params: Readonly<Record<string, string>>) => LockKeyValues<Path>;
}

const OPTIONS: readonly (keyof RequireFenceOptions)[] = ['keys'];

const NO_PATH =
  "it would let in whoever asks. Write @RequireFence('/locks/orders/:id'), with the path of the lock whose token it is";

type MethodOrClassDecorator = (target: object, method?: string | symbol, descriptor?: PropertyDescriptor) => void;

/**
 * Lets a request in only with the fencing token of the lock, in the header `Fencing-Token`, and only while no higher one
 * was seen for it: `@RequireFence('/locks/orders/:id')`. Placeholders are parameters of the route, encoded as `@Locked`
 * does. On a class it is for all of its routes; a method's own takes the place of that, and `@WithoutFence()` lifts it.
 *
 * Answers 428 without a token, 403 for one that is malformed, forged or another lock's, 409 for a stale one, 503 when the
 * marks cannot be asked. The mark is raised before the handler runs, so what the handler does late is covered only by
 * handing the token on to the store it writes to: `@FenceToken()`.
 */
export function RequireFence<const Path extends string>(
  path: CheckedPath<Path>,
  options?: RequireFenceOptions<Path>,
): MethodOrClassDecorator;
export function RequireFence<const Path extends string>(
  path: CheckedPath<Path>,
  options: RequireFenceOptions<Path> = {},
  ...bare: unknown[]
): MethodOrClassDecorator {
  refuseMissingParentheses('@RequireFence', [path, options, ...bare], NO_PATH);
  return (target, method, descriptor) => {
    const where = `@RequireFence('${path}') on ${nameOf(target, method)}`;
    const decorated = decoratedOf(target, method, descriptor, where);
    checkNames(options, OPTIONS, (what) => {
      throw new LockConfigurationError(`${where}: ${what}`);
    });
    const { keys } = options;
    if (keys !== undefined && typeof keys !== 'function')
      throw new LockConfigurationError(`${where}: keys: must be a function`);
    const plan = { where, template: lockKeyTemplate(path, where), keys };
    setFencePlan(decorated, plan);
    if (method === undefined || descriptor === undefined) {
      UseGuards(FenceGuard)(target as never);
      return;
    }
    fencedMethods.set(target, method, plan);
    UseGuards(FenceGuard)(target, method, descriptor);
  };
}

/** For a method of a class with `@RequireFence`: this route asks for no token. It must write nothing that the lock protects. */
export function WithoutFence(): MethodDecorator;
export function WithoutFence(...bare: unknown[]): MethodDecorator {
  refuseMissingParentheses('@WithoutFence', bare, 'it would lift nothing. Write @WithoutFence()');
  return (target, method, descriptor) => {
    setFencePlan(decoratedOf(target, method, descriptor, `@WithoutFence() on ${nameOf(target, method)}`), 'none');
  };
}

/** The methods that have a parameter with `@FenceToken()`. */
export const takingToken = new NamedNotes<true>();

const VerifiedTokenOfRequest = createParamDecorator((_data: unknown, context: ExecutionContext): bigint => {
  const accepted = acceptedTokens.get(context.switchToHttp().getRequest<object>());
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

function decoratedOf(
  target: object,
  method: string | symbol | undefined,
  descriptor: PropertyDescriptor | undefined,
  where: string,
): object {
  if (method === undefined && typeof target === 'function') return target;
  if (typeof target !== 'function' && typeof descriptor?.value === 'function') return descriptor.value as object;
  throw new LockConfigurationError(
    `${where}: it is for controllers and their methods, not for static ones or properties`,
  );
}

function nameOf(target: object, method: string | symbol | undefined): string {
  const name = typeof target === 'function' ? target.name : target.constructor.name;
  return method === undefined ? name : `${name}.${String(method)}`;
}
