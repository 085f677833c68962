import { expect, it } from '@jest/globals';
import { createLockService } from '../../../lib/open.js';
import { eventually } from '../../support/process/eventually.js';
import { startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';

const TICK_MS = 500;
const S_MS = 4 * TICK_MS;

it('a session is called the same everywhere: by the server, the service, its snapshots, the node of its heartbeats', async () => {
  const server = await startZooKeeper({ tickTimeMs: TICK_MS });
  const options = { connect: server.connect, serverTickMs: TICK_MS, sessionTimeoutMs: S_MS };
  const service = await createLockService(options);
  try {
    const id = service.sessionId!;
    await using lock = await service.acquire('/locks/a');
    const { holders } = await service.inspect('/locks/a');
    const dump = await eventually('the heartbeat of a holder has made its node', async () => {
      const text = await server.fourLetter('dump');
      return text.includes('/.sessions/') ? text : undefined;
    });

    expect(id).toMatch(/^0x[0-9a-f]+$/);
    expect(holders).toMatchObject([{ nodePath: lock.nodePath, sessionId: id }]);
    expect(dump).toMatch(new RegExp(`^${id}:\\n(\\t/.*\\n)*\\t/\\.sessions/${id}$`, 'm'));
  } finally {
    await service.close(0);
    await server.stop();
  }
});
