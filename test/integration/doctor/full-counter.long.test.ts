import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLockDoctor } from '../../../lib/extras/doctor/index.js';
import { createLockService } from '../../../lib/open.js';
import { create } from '../../../lib/session/requests.js';
import { openWire, untilUp } from '../../support/sessions/wire-session.js';
import { PLAIN_SNAPSHOTS, setCounter } from '../../support/zookeeper/snapshot-counter.js';
import { type StandaloneServer, startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';

const KEY = '/locks/worn';
const LAST_NUMBER = 2_147_483_647;

describe('A queue that has given out nearly all of its numbers, on a real server,', () => {
  let server: StandaloneServer;

  beforeAll(async () => {
    server = await startZooKeeper({ jvmFlags: PLAIN_SNAPSHOTS });
    const operator = openWire([server.port]);
    await untilUp(operator);
    await operator.batch([create('/locks', 'persistent'), create(KEY, 'persistent')]);
    await operator.close();
    // A server takes a snapshot when it starts.
    await server.restart();
    await server.kill();
    await setCounter(server.dataDir, KEY, LAST_NUMBER - 1);
    await server.start();
  }, 120_000);
  afterAll(() => server.stop(), 30_000);

  it('is a critical finding, and the number it tells is the one that the next contender gets', async () => {
    await using doctor = await createLockDoctor({ connect: server.connect });
    const examine = async () =>
      (await doctor.examine({ prefix: KEY })).findings.filter(({ severity }) => severity === 'critical');
    const [found] = await examine();
    expect(found).toMatchObject({ kind: 'sequence nearly full', key: KEY });
    expect(found!.text).toContain(`has given out ${LAST_NUMBER - 1} of its 2147483648 numbers`);
    await using locks = await createLockService({ connect: server.connect });
    const lock = await locks.acquire(KEY);
    expect(Number(lock.nodePath.slice(-10))).toBe(LAST_NUMBER - 1);
    const [atTheEnd] = await examine();
    expect(atTheEnd!.text).toContain(`has given out ${LAST_NUMBER} of its`);
    await lock.release();
    await expect(locks.acquire(KEY)).rejects.toMatchObject({ code: 'LOCK_CONFIGURATION' });
  });
});
