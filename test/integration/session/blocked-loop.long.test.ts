import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { create, exists, get } from '../../../lib/session/requests.js';
import { eventually } from '../../support/process/eventually.js';
import { StateLog } from '../../support/sessions/state-log.js';
import { closeOpenSessions, openWire, untilUp } from '../../support/sessions/wire-session.js';
import { startZooKeeper, type StandaloneServer } from '../../support/zookeeper/start-zookeeper.js';
import { replyTo } from '../../support/sessions/reply-to.js';

const TIMEOUT_MS = 2_000;
/** What the way to the server may take is left of it. */
const LONGEST_PART = 0.93;

/** Nothing else of this process runs meanwhile. */
function blockUntil(at: number): void {
  while (performance.now() < at);
}

describe('an event loop that is blocked', () => {
  let server: StandaloneServer;
  beforeAll(async () => {
    server = await startZooKeeper({ tickTimeMs: 500 });
  });
  afterEach(closeOpenSessions);
  afterAll(() => server.stop());

  it.each([0.7, 0.9])('does not cost the session until %d S after the last request was sent', async (part) => {
    for (let rounds = 0; rounds < 3;) {
      const session = openWire([server.port], { sessionTimeoutMs: TIMEOUT_MS });
      const log = new StateLog(session);
      await untilUp(session);
      const { path, stat } = await replyTo(session, create('/blocked-', 'ephemeral-sequential'));

      const sentAt = performance.now();
      const answer = replyTo(session, get(path));
      await answer;
      blockUntil(sentAt + part * TIMEOUT_MS);
      // If the machine stood still at its end, it was as good as blocked for S, and another round must tell.
      if (performance.now() - sentAt < LONGEST_PART * TIMEOUT_MS) {
        expect(await replyTo(session, exists(path)).catch((error: unknown) => error)).toEqual(stat);
        expect(session.identity?.id).toBe(stat.ephemeralOwner);
        expect(log.states).toEqual(['connecting', 'connected']);
        rounds += 1;
      }
      await session.close();
    }
  });

  it('finds certainty gone in its first line of code after more than S, before any state has changed', async () => {
    const session = openWire([server.port], { sessionTimeoutMs: TIMEOUT_MS });
    await untilUp(session);
    const { stat } = await replyTo(session, create('/blocked', 'ephemeral'));
    session.keepCertain();
    expect(session.certainUntil()).toBeGreaterThan(performance.now());

    blockUntil(performance.now() + TIMEOUT_MS + 700);

    expect(session.certainUntil()).toBeLessThan(performance.now());
    expect(session.state).toBe('connected');
    await eventually('there is another session', () => {
      return session.identity !== undefined && session.identity.id !== stat.ephemeralOwner;
    });
    await untilUp(session);
    expect(await replyTo(session, exists('/blocked'))).toBeUndefined();
    await session.close();
  });
});
