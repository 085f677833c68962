import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { EventLoopWatch } from '../../../lib/nest/event-loop-watch.js';
import { eventually } from '../../support/process/eventually.js';

const SESSION_TIMEOUT_MS = 2_000;

function block(durationMs: number): void {
  const end = performance.now() + durationMs;
  while (performance.now() < end);
}

describe('the watch over the event loop', () => {
  let watch: EventLoopWatch;
  afterEach(() => watch.stop());

  it('tells once of a block of a quarter of the session time-out', async () => {
    watch = new EventLoopWatch(SESSION_TIMEOUT_MS);
    // Measured from look to look: the first has to have been.
    await pause(SESSION_TIMEOUT_MS / 10);
    block(SESSION_TIMEOUT_MS / 4 + 200);

    const lagMs = await eventually('the block is seen', () => watch.takeNoticeableLagMs());
    expect(lagMs).toBeGreaterThanOrEqual(SESSION_TIMEOUT_MS / 4);
    expect(watch.takeNoticeableLagMs()).toBeUndefined();
  });

  it('says nothing of an idle loop', async () => {
    watch = new EventLoopWatch(SESSION_TIMEOUT_MS * 10);
    await pause(50);

    expect(watch.takeNoticeableLagMs()).toBeUndefined();
  });
});
