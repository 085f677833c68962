import { describe } from '@jest/globals';
import { expectSeedsToHold } from '../support/simulation/expect-seeds.js';

// The processes that play the schedules take it over.
process.env['CLIENT_UNDER_TEST'] = 'native';

describe('All promises, over sessions with the limits of the client native,', () => {
  expectSeedsToHold(20_001, 500);
});
