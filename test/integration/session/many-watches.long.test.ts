import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { create, get, list, remove, sync } from '../../../lib/session/requests.js';
import { eventually } from '../../support/process/eventually.js';
import { Stalls } from '../../support/process/stalls.js';
import { startProxy } from '../../support/proxy/fault-proxy.js';
import { RecordingWatcher } from '../../support/sessions/recording-watcher.js';
import { closeOpenSessions, openWire, untilState, untilUp } from '../../support/sessions/wire-session.js';
import type { StandaloneServer } from '../../support/zookeeper/start-zookeeper.js';
import { startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';
import { replyTo } from '../../support/sessions/reply-to.js';

const WATCHES = 12_000;
/** Names as long as a path of a real application: all of them together are 2 MB, twice what a server takes in a frame. */
const PADDING = 'a-long-name-'.repeat(13);

describe('a session with 12 000 watches', () => {
  let server: StandaloneServer;
  beforeAll(async () => {
    server = await startZooKeeper({ tickTimeMs: 500 });
  });
  afterEach(closeOpenSessions);
  afterAll(() => server.stop());

  it('comes back after a cut, all watches with it, in frames the server takes', async () => {
    await using proxy = await startProxy({ target: server.port });
    const session = openWire([proxy.port], { sessionTimeoutMs: 10_000 });
    const paths = Array.from({ length: WATCHES }, (_, index) => `/${PADDING}${index}`);
    const watcher = new RecordingWatcher();
    await untilUp(session);
    for (let from = 0; from < WATCHES; from += 2_000) {
      const part = paths.slice(from, from + 2_000);
      await session.batch(part.map((path) => create(path, 'ephemeral')));
      await session.batch(part.map((path) => get(path, watcher)));
    }
    const id = session.identity?.id;
    await eventually('all are set', async () => (await server.watchCount()) === WATCHES);
    proxy.resetCounts();

    using stalls = Stalls.watch();
    const cutAt = performance.now();
    proxy.cut();
    await untilState(session, 'suspended');
    await untilUp(session);
    await replyTo(session, sync('/'));
    const backAfterMs = performance.now() - cutAt - stalls.totalMs;

    expect(session.identity?.id).toBe(id);
    expect(backAfterMs).toBeLessThan(5_000);
    expect(proxy.counts().connections).toBeLessThanOrEqual(3);
    expect(await server.watchCount()).toBe(WATCHES);
    expect((await replyTo(session, list('/'))).children.length).toBeGreaterThanOrEqual(WATCHES);
    for (let from = 0; from < WATCHES; from += 2_000) {
      await session.batch(paths.slice(from, from + 2_000).map((path) => remove(path)));
    }
    expect(new Set(watcher.told).size).toBe(WATCHES);
    expect(watcher.told).toHaveLength(WATCHES);
    await session.close();
  }, 60_000);
});
