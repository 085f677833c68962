import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { detailsOf, LockConfigurationError, LockError, LockUnavailableError } from '../../lock/errors.js';
import { LockExceptionFilter } from '../../nest/lock-exception.filter.js';
import { FENCING_TOKEN_HEADER } from '../errors.js';
import { parseToken, tokenOfSigned } from '../fence.js';
import { severalTokens, tokenMissing } from '../refusals.js';
import { acceptedTokens, type FencePlan, fencePlanOf } from './fence-plan.js';
import { FENCING, type ResolvedFencing } from './fencing-options.js';

/** Node writes the names of headers in lower case, for Express and Fastify alike. */
const RECEIVED_AS = FENCING_TOKEN_HEADER.toLowerCase();

/** What both Express and Fastify requests have. */
interface FencedRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Express gives the segments of a wildcard as a list. */
  readonly params?: Readonly<Record<string, string | readonly string[]>>;
}

/** Nest asks this guard before the pipes and the handler of a route with `@RequireFence`. */
@Injectable()
export class FenceGuard implements CanActivate {
  constructor(@Inject(FENCING) private readonly fencing: ResolvedFencing) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const plan = fencePlanOf(context.getHandler(), context.getClass());
    if (plan === 'none') return true;
    if (plan === undefined)
      throw new LockConfigurationError('FenceGuard is put in place by @RequireFence(path), not by itself');
    if (context.getType<string>() !== 'http') {
      throw new LockConfigurationError(
        `${plan.where}: it reads a header of HTTP, and this is a call of ${context.getType()}`,
      );
    }
    const request = context.switchToHttp().getRequest<FencedRequest>();
    // The guard stands twice where both the class and the method are decorated.
    if (acceptedTokens.get(request)?.plan === plan) return true;
    try {
      acceptedTokens.set(request, { plan, token: await this.#admit(request, plan) });
    } catch (error) {
      // The answer names no lock and no reason: whoever forges tokens would learn from it.
      if (error instanceof LockError) LockExceptionFilter.logDetails(error);
      throw error;
    }
    return true;
  }

  async #admit(request: FencedRequest, plan: FencePlan): Promise<bigint> {
    const params = joined(request.params ?? {});
    const key = plan.template.keyOf(plan.keys === undefined ? params : { ...plan.keys(params) });
    // The token is verified before the claim: the mark must not rise for a token that proves nothing.
    const token = this.#verify(shownToken(request, key, this.fencing.keys !== undefined), key);
    await this.#claim(key, token);
    return token;
  }

  #verify(text: string, key: string): bigint {
    const { keys, rules } = this.fencing;
    return keys === undefined ? parseToken(text, key) : tokenOfSigned(text, key, keys, { ...rules, key });
  }

  async #claim(key: string, token: bigint): Promise<void> {
    try {
      await this.fencing.marks.claim(key, token);
    } catch (error) {
      if (error instanceof LockError) throw error;
      const text = `The fencing marks of ${key} could not be checked, so the request was refused`;
      throw new LockUnavailableError(`${text}: ${detailsOf(error)}`, key, { cause: error });
    }
  }
}

function joined(params: NonNullable<FencedRequest['params']>): Record<string, string> {
  const entries = Object.entries(params);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'object' ? value.join('/') : value]),
  );
}

/**
 * The one value of the header.
 * @throws FencingTokenRequiredError where it is missing, InvalidFencingTokenError where there are several
 */
function shownToken(request: FencedRequest, key: string, isSigned: boolean): string {
  const value = request.headers[RECEIVED_AS];
  if (value === undefined || value === '') throw tokenMissing(key, isSigned);
  // Node joins several headers of one name with commas, which neither digits nor a signed token contain.
  if (typeof value === 'string' && !value.includes(',')) return value;
  throw severalTokens(key);
}
