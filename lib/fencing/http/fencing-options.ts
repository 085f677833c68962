import { LockConfigurationError } from '../../lock/errors.js';
import { checkKeys, checkNames } from '../checks.js';
import { type Fence, tokenToCompare } from '../fence.js';
import { staleToken } from '../refusals.js';
import type { VerificationKeys } from '../signed/keys.js';
import type { ExpectedToken } from '../signed/signed-token.js';
import { isStale } from '../token.js';
import { FencedZnodes } from '../znodes/fenced-znodes.js';

/**
 * Where the highest token of each resource is kept: one of the durable stores of this package, shared by all instances of
 * the service, or anything else that keeps the same rule.
 */
export interface FencingMarks {
  /**
   * Raises the mark of the resource to this token, durably, before it resolves. The same token may come again.
   * @throws StaleFencingTokenError when a higher one was seen
   */
  claim(resource: string, fence: Fence): Promise<void>;
  /**
   * Makes sure that the marks can be kept. The boot waits for it, and fails with its error. That of a `RedisFence` refuses a
   * Redis that may forget what it acknowledged. To use such a Redis all the same, leave `check` out:
   * `{ claim: (resource, fence) => redis.claim(resource, fence) }`.
   */
  check?(): Promise<void>;
}

/** What signed tokens must say besides being of the lock. */
export type SignedTokenRules = Pick<ExpectedToken, 'issuer' | 'maxAgeMs'>;

export interface FencingModuleOptions extends SignedTokenRules {
  /** Where the highest tokens are kept. The store behind it has no keys of its own: the guard gives it what it verified. */
  readonly marks: FencingMarks;
  /** With keys, callers must send signed tokens of the very lock; without, anybody can send any number. */
  readonly keys?: VerificationKeys;
}

/** The options as the guard reads them. */
export interface ResolvedFencing {
  readonly marks: FencingMarks;
  readonly keys: VerificationKeys | undefined;
  readonly rules: SignedTokenRules;
}

/** Nest prints this text in its own error at boot, where nobody provides the marks. */
export const FENCING = Symbol(
  'the fencing marks for @RequireFence (is FencingModule.forRoot({ marks }) imported in the root module?)',
);

const KNOWN: readonly (keyof FencingModuleOptions)[] = ['marks', 'keys', 'issuer', 'maxAgeMs'];

/** @throws LockConfigurationError that names the option and what was expected */
export function resolveFencingOptions(options: FencingModuleOptions): ResolvedFencing {
  const refuse = (what: string): never => {
    throw new LockConfigurationError(`FencingModule: ${what}`);
  };
  checkNames(options, KNOWN, refuse);
  const { marks, keys, ...rules } = options;
  checkMarks(marks, (what) => refuse(`marks: ${what}`));
  checkKeys(keys, refuse);
  checkTokenRules(rules, keys !== undefined, refuse);
  return { marks, keys, rules };
}

function checkMarks(marks: Partial<FencingMarks> | null | undefined, refuse: (what: string) => never): void {
  if (marks instanceof FencedZnodes) {
    refuse(
      'FencedZnodes keeps no highest token to compare with that of a request: it asks for the node of the lock. Take ' +
        'FencedFileStore, PostgresFence or RedisFence',
    );
  }
  // A `claim` with fewer parameters does not take the token, so it cannot compare it.
  if (typeof marks?.claim !== 'function' || marks.claim.length !== 2) {
    refuse(
      'must be a store with claim(resource, fence), which takes these two: FencedFileStore, PostgresFence or RedisFence',
    );
  }
  const { check }: { readonly check?: unknown } = marks;
  if (check !== undefined && typeof check !== 'function') refuse('check: must be a function, or be left out');
}

function checkTokenRules(
  { issuer, maxAgeMs }: SignedTokenRules,
  hasKeys: boolean,
  refuse: (what: string) => never,
): void {
  if (issuer !== undefined && (typeof issuer !== 'string' || issuer === '')) refuse('issuer: must be a non-empty text');
  if (maxAgeMs !== undefined && !(Number.isFinite(maxAgeMs) && maxAgeMs > 0)) {
    refuse(`maxAgeMs: must be a number of milliseconds above 0, not ${String(maxAgeMs)}`);
  }
  const asked = issuer !== undefined ? 'issuer' : maxAgeMs !== undefined ? 'maxAgeMs' : undefined;
  if (asked !== undefined && !hasKeys) refuse(`${asked}: only signed tokens have it; give FencingModule keys`);
}

/** Marks for the tests of an application: they are gone with the process, and no other instance sees them. */
export class MemoryFencingMarks implements FencingMarks {
  readonly #highest = new Map<string, bigint>();

  /** @throws LockConfigurationError outside tests */
  constructor() {
    if (process.env['NODE_ENV'] === 'test') return;
    throw new LockConfigurationError(
      "MemoryFencingMarks is for tests, where NODE_ENV is 'test': marks in memory are forgotten at a restart and are not " +
        'seen by other instances, so stale callers would be let in. Keep them in FencedFileStore, PostgresFence or RedisFence',
    );
  }

  async claim(resource: string, fence: Fence): Promise<void> {
    const token = await tokenToCompare(fence, resource, {});
    const highest = this.#highest.get(resource) ?? 0n;
    if (isStale(token, highest)) throw staleToken(resource, token, highest);
    this.#highest.set(resource, token);
  }
}
