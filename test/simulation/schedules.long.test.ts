import { describe } from '@jest/globals';
import { expectSeedsToHold } from '../support/simulation/expect-seeds.js';

describe('The promises of a lock', () => expectSeedsToHold(501, 1_000));
