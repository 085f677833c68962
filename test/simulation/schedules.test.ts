import { describe } from '@jest/globals';
import { expectSeedsToHold } from '../support/simulation/expect-seeds.js';

describe('The promises of a lock', () => expectSeedsToHold(1, 500));

describe('The promises of a lock, which were once broken here,', () => {
  // S of two ticks, the slowest network, and a lock acquired just before the next ping.
  expectSeedsToHold(30_100, 1);
  // A service closes while servers hold back what confirms its removals.
  expectSeedsToHold(5_410, 1);
  // The answer to an entry is lost behind two holders that vanished.
  expectSeedsToHold(6_968, 1);
  // An operator removes the intent of an upgrade before the readers are named in it.
  expectSeedsToHold(50_915, 1);
  // A holder releases its lock between the two reads of a try.
  expectSeedsToHold(20_382, 1);
  // An operator clears a record while a contender that has read it gives up.
  expectSeedsToHold(42_948, 1);
  // Servers that could not commit show an entry only after another one of the same contender.
  expectSeedsToHold(87_149, 1);
});
