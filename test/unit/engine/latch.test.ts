import { describe, it } from '@jest/globals';
import { Latch } from '../../../lib/engine/latch.js';

describe('a latch', () => {
  it('resolves for who waits, and for who comes after it was opened', async () => {
    const latch = new Latch();
    const waiting = latch.opened();
    latch.open();
    latch.open();
    await waiting;
    await latch.opened();
  });
});
