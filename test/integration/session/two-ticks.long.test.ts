import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/process/eventually.js';
import { Stalls } from '../../support/process/stalls.js';
import { StateLog } from '../../support/sessions/state-log.js';
import { closeOpenSessions, openWire, untilUp } from '../../support/sessions/wire-session.js';
import { startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';

const TICK_MS = 1_500;
/** What there is to spare. */
const STALL_MS = 100;

describe('a session of two ticks, the least a server grants', () => {
  afterEach(closeOpenSessions);

  it('stays certain for four times as long while it is held', async () => {
    await using server = await startZooKeeper({ tickTimeMs: TICK_MS });
    const session = openWire([server.port], { sessionTimeoutMs: 2 * TICK_MS, serverTickMs: TICK_MS });
    const log = new StateLog(session);
    await untilUp(session);
    const since = session.certainSince();
    session.keepCertain();

    const endsAt = performance.now() + 8 * TICK_MS;
    const doubtsMs: number[] = [];
    using stalls = Stalls.watch();
    let hadReason = false;
    await eventually(
      'that time has passed',
      () => {
        const doubtMs = performance.now() - session.certainUntil();
        if (stalls.latelyMs(2 * TICK_MS) > STALL_MS) hadReason = true;
        else if (doubtMs >= 0) doubtsMs.push(doubtMs);
        return performance.now() >= endsAt;
      },
      { withinMs: 10 * TICK_MS, everyMs: 5 },
    );

    expect(doubtsMs).toEqual([]);
    if (!hadReason) expect(session.certainSince()).toBe(since);
    expect(log.states).toEqual(['connecting', 'connected']);
    await session.close();
  });
});
