import { it } from '@jest/globals';

/**
 * What a client may lack of the contract, because of what it is built on. A promise that rests on it is not played with
 * that client; what becomes of it there is a promise of its own (`nativeGapsContract`).
 */
export type Gap = 'multi' | 'acl' | 'auth' | 'watch removal' | 'stat of a create';
export type Gaps = ReadonlySet<Gap>;

export const NO_GAPS: Gaps = new Set();
/** Those of the npm package `zookeeper`. */
export const NATIVE_GAPS: Gaps = new Set(['multi', 'acl', 'auth', 'watch removal', 'stat of a create']);

type Declare = (name: string, test: () => Promise<void>) => void;

/** Declares a test, unless the client lacks what the test is about. */
export function itUnless(gaps: Gaps, gap: Gap): Declare {
  return gaps.has(gap) ? () => undefined : (name, test) => it(name, test);
}
