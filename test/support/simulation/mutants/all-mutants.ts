import { CONTAINER_MUTANTS } from './container-mutants.js';
import { DRAINED_MUTANTS } from './drained-mutants.js';
import { FULL_QUEUE_MUTANTS } from './full-queue-mutants.js';
import { HAND_OVER_MUTANTS } from './hand-over-mutants.js';
import { KNOWN_ORDER_MUTANTS } from './known-order-mutants.js';
import { MORE_MUTANTS, SLOW_MUTANTS } from './more-mutants.js';
import type { Mutant } from './mutant.js';
import { MUTANTS } from './mutants.js';
import { RECORD_MUTANTS, SLOW_RECORD_MUTANTS } from './record-mutants.js';
import { SURGERY_MUTANTS } from './surgery-mutants.js';

/** All but those that it takes many seeds to catch. */
export const QUICK_MUTANTS: readonly Mutant[] = [
  ...MUTANTS,
  ...MORE_MUTANTS,
  ...CONTAINER_MUTANTS,
  ...HAND_OVER_MUTANTS,
  ...DRAINED_MUTANTS,
  ...KNOWN_ORDER_MUTANTS,
  ...SURGERY_MUTANTS,
  ...RECORD_MUTANTS,
  ...FULL_QUEUE_MUTANTS,
];

export const ALL_MUTANTS: readonly Mutant[] = [...QUICK_MUTANTS, ...SLOW_MUTANTS, ...SLOW_RECORD_MUTANTS];
