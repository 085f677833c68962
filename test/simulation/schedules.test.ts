import { describe } from '@jest/globals';
import { expectSeedsToHold } from '../support/simulation/expect-seeds.js';

describe('The promises of a lock', () => expectSeedsToHold(1, 500));

/** S of two ticks, the slowest network, and a lock taken just before the next ping. */
describe('The promises of a lock, which were once broken here,', () => expectSeedsToHold(30_100, 1));
