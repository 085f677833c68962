import { describe } from '@jest/globals';
import { expectMutantsToBeCaught } from '../support/simulation/expect-mutants.js';
import { SLOW_MUTANTS } from '../support/simulation/mutants/more-mutants.js';
import { SLOW_RECORD_MUTANTS } from '../support/simulation/mutants/record-mutants.js';

describe('The checkers catch', () => expectMutantsToBeCaught([...SLOW_MUTANTS, ...SLOW_RECORD_MUTANTS]));
