import { LockConfigurationError } from '../../lock/errors.js';
import { checkKeys, checkNames } from '../checks.js';
import type { VerificationKeys } from '../signed/keys.js';
import type { ExpectedToken } from '../signed/signed-token.js';
import { FencedZnodes } from '../znodes/fenced-znodes.js';
import type { FencingMarks } from './fencing-marks.js';

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
