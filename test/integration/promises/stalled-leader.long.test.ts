import { describe } from '@jest/globals';
import { oneHolderWhenTheLeaderStalls } from '../../support/locks/stalled-leader.js';

describe('One holder, with three servers,', () => oneHolderWhenTheLeaderStalls(3));
