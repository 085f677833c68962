import { describe } from '@jest/globals';
import { expectSeedsToHold } from '../support/simulation/expect-seeds.js';

/** A second half, for a second core. */
describe('The promises of a lock', () => expectSeedsToHold(2_501, 2_500));
