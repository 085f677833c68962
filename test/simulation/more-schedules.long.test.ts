import { describe } from '@jest/globals';
import { expectSeedsToHold } from '../support/simulation/expect-seeds.js';

/** A second half, for a second core. */
describe('The promises of a lock', () => expectSeedsToHold(3_001, 1_000));
