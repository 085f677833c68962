import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ObjectServer } from '../../support/fencing/object-server.js';
import { type SqlWorld, startWorld } from '../../support/fencing/sql/start-world.js';
import { type Outcomes, runStaleWriters } from '../../support/fencing/stale-writers.js';
import { prepareMariaDb } from '../../support/fencing/stores/mariadb-store.js';
import { preparePostgres } from '../../support/fencing/stores/postgres-stores.js';
import type { WriterSettings } from '../../support/fencing/writer-process.js';
import { type NodeChild, ofType, startNodeChild } from '../../support/process/node-child.js';
import { folderRemoved } from '../../support/process/reaper.js';
import { type PostgresServer, startPostgres } from '../../support/postgres/start-postgres.js';
import { type RedisServer, startRedis } from '../../support/redis/start-redis.js';
import { makeWorkspace } from '../../support/zookeeper/workspace.js';
import { type StandaloneServer, startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';

const STORES = ['file', 'postgres-mark', 'postgres-column', 'mariadb', 'redis', 'objects', 'http', 'znodes'];
const TICK_MS = 250;
/** Outlives a stall of a second. */
const SESSION_MS = 8 * TICK_MS;
const ROUNDS = 20;
const INSTALL_MS = 400_000;

function ofEach(outcome: string): Outcomes {
  return Object.fromEntries(STORES.map((store) => [store, outcome]));
}

describe('A writer that was stopped for longer than its session, and writes again without asking', () => {
  let zookeeper: StandaloneServer;
  let postgres: PostgresServer;
  let mariaDb: SqlWorld;
  let redis: RedisServer;
  let objects: ObjectServer;
  let service: NodeChild;
  let folder: string;
  let settings: Omit<WriterSettings, 'isGuarded'>;

  beforeAll(async () => {
    zookeeper = await startZooKeeper({ tickTimeMs: TICK_MS });
    postgres = await startPostgres();
    mariaDb = await startWorld('mysql');
    redis = await startRedis();
    objects = await ObjectServer.start();
    folder = await makeWorkspace();
    await preparePostgres(postgres.url);
    await prepareMariaDb(mariaDb.place);
    service = await startNodeChild(new URL('../../support/fencing/http-service.ts', import.meta.url), {
      args: [postgres.url],
    });
    const { url } = await service.next('listens', ofType('listens'), 30_000);
    settings = {
      connect: zookeeper.connect,
      sessionTimeoutMs: SESSION_MS,
      serverTickMs: TICK_MS,
      postgresUrl: postgres.url,
      mariaDb: mariaDb.place,
      objectsUrl: objects.url,
      redisPort: redis.port,
      httpUrl: String(url),
      folder,
    };
  }, INSTALL_MS);
  afterAll(async () => {
    await service?.kill();
    await Promise.all([zookeeper?.stop(), postgres?.stop(), mariaDb?.stop(), redis?.stop(), objects?.stop()]);
    await rm(folder, { recursive: true, force: true });
    folderRemoved(folder);
  }, 30_000);

  it(`is refused by every store, ${ROUNDS} times of ${ROUNDS}, and nothing that was acknowledged is lost`, async () => {
    const { staleWrites, acknowledged, texts } = await runStaleWriters(ROUNDS, { ...settings, isGuarded: true });
    expect(staleWrites).toEqual(Array.from({ length: ROUNDS }, () => ofEach('STALE_FENCING_TOKEN')));
    expect([...texts.keys()].sort()).toEqual([...STORES].sort());
    for (const store of STORES) {
      expect({ store, entries: texts.get(store) }).toEqual({ store, entries: acknowledged.get(store) });
      expect(acknowledged.get(store)?.length).toBeGreaterThan(2 * ROUNDS);
    }
  }, 120_000);

  it('destroys what others were told is written where nothing compares the tokens: the test can fail', async () => {
    const { staleWrites, acknowledged, texts } = await runStaleWriters(2, { ...settings, isGuarded: false });
    expect(staleWrites).toEqual([ofEach('accepted'), ofEach('accepted')]);
    for (const store of STORES) {
      const lost = acknowledged.get(store)?.filter((entry) => texts.get(store)?.includes(entry) !== true);
      expect({ store, lost }).toEqual({ store, lost: ['second-1', 'second-2'] });
      expect(texts.get(store)).toContain('stale-2');
    }
  }, 60_000);
});
