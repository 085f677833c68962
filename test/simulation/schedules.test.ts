import { describe } from '@jest/globals';
import { expectSeedsToHold } from '../support/simulation/expect-seeds.js';

describe('The promises of a lock', () => expectSeedsToHold(1, 2_500));
