import { describe } from '@jest/globals';
import { flakyLink } from '../../support/locks/flaky-link.js';
import { killedLeaders, SOON_ELECTED } from '../../support/locks/killed-leaders.js';
import { LockStage } from '../../support/locks/lock-stage.js';

describe('One holder, with one server,', () => {
  flakyLink(new LockStage(), 60_000);
});

describe('One holder, with three servers,', () => {
  killedLeaders(new LockStage(3, SOON_ELECTED), 10);
});
