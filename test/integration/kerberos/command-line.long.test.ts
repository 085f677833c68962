import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { EnsembleCheckFacts, LockScanJson } from '../../../lib/extras/doctor/index.js';
import { type Finished, ZkLock } from '../../support/command-line/zk-lock-process.js';
import { startLocker } from '../../support/kerberos/locker.js';
import { type Realm, startRealm } from '../../support/kerberos/realm.js';
import { saslServer } from '../../support/kerberos/sasl-server.js';
import { type StandaloneServer, startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';

const TICK_MS = 500;
const KEY = '/jobs/nightly';
const LOADS_KERBEROS = new URL('../../../lib/session/kerberos/kerberos-authenticator.ts', import.meta.url);

/** Debian's packages for a KDC may be missing. */
const INSTALLS_WITHIN_MS = 300_000;

describe('zk-lock as a Kerberos principal', () => {
  let realm: Realm;
  let server: StandaloneServer;
  /** Its principal has neither the usual name of the service nor that of the machine. */
  let renamed: StandaloneServer;
  let keytab: string;
  const zkLock = new ZkLock();

  beforeAll(async () => {
    realm = await startRealm();
    const start = async (principal: string): Promise<StandaloneServer> => {
      const sasl = await saslServer(realm, { principal, keytab: await realm.keytab(principal) });
      return startZooKeeper({ tickTimeMs: TICK_MS, ...sasl });
    };
    server = await start('zookeeper/localhost');
    renamed = await start('locks/cluster.test');
    keytab = await realm.keytab('orders');
    await zkLock.compile({ packages: ['kerberos'], loads: [LOADS_KERBEROS] });
  }, INSTALLS_WITHIN_MS);
  afterEach(() => zkLock.killAll());
  afterAll(async () => {
    await server?.stop();
    await renamed?.stop();
    await realm?.stop();
  });

  /** The environment says which server, and nothing of Kerberos. */
  const call = (to: StandaloneServer, env: Readonly<Record<string, string>>, ...args: string[]): Promise<Finished> => {
    const connection = { ZK_LOCK_CONNECT: `localhost:${to.port}`, ZK_LOCK_SERVER_TICK: `${TICK_MS}ms` };
    return zkLock.call(args, { ...connection, ...env });
  };

  it('lists what applications of the same principal hold, and shows it', async () => {
    const env = realm.withKeytab(keytab, 'operator');
    await using locker = await startLocker(realm.withKeytab(keytab, 'application'));
    await locker.start({
      connect: `localhost:${server.port}`,
      auth: { scheme: 'kerberos' },
      sessionTimeoutMs: 8_000,
      serverTickMs: TICK_MS,
    });
    expect(await locker.tell({ do: 'acquire', key: KEY })).toMatchObject({ isHeld: true });

    const listed = await call(server, env, 'ls', '--json', '--kerberos');
    expect([listed.code, listed.stderr]).toEqual([0, '']);
    expect((JSON.parse(listed.stdout) as LockScanJson).locks).toMatchObject([{ key: KEY, state: 'HELD' }]);
    const shown = await call(server, { ...env, ZK_LOCK_KERBEROS: '1' }, 'show', KEY);
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining(KEY)]);
    // The line to paste says what this one said.
    expect((await call(server, env, 'show', KEY, '--kerberos')).stdout).toMatch(
      /-p kerberos zk-lock break .*--kerberos/s,
    );
    await locker.tell({ do: 'release' });
  });

  it('finds that locks will work, with nodes that only this principal may use', async () => {
    const env = realm.withKeytab(keytab, 'checker');
    const checked = await call(server, env, 'check', '--json', '--kerberos');
    expect([checked.code, checked.stderr]).toEqual([0, '']);
    const { items } = JSON.parse(checked.stdout) as EnsembleCheckFacts;
    expect(items.find(({ name }) => name === 'access')).toMatchObject({ outcome: 'ok' });
    const ran = await call(server, env, 'run', '/jobs/run', '--kerberos', '--', 'true');
    expect([ran.code, ran.stderr]).toEqual([0, '']);
  });

  it('goes by the names that the options give, or the environment', async () => {
    const env = realm.withKeytab(keytab, 'named');
    const names = ['--kerberos-service', 'locks', '--kerberos-host', 'cluster.test', '--kerberos-principal', 'orders'];
    expect((await call(renamed, env, 'check', ...names)).code).toBe(0);
    const variables = {
      ZK_LOCK_KERBEROS_SERVICE: 'locks',
      ZK_LOCK_KERBEROS_HOST: 'cluster.test',
      ZK_LOCK_KERBEROS_PRINCIPAL: 'orders',
    };
    expect((await call(renamed, { ...env, ...variables }, 'ls')).code).toBe(0);
    expect(renamed.log()).toContain('adding SASL authorization for authorizationID: orders@LOCKS.TEST');
    const without = await call(renamed, env, 'ls', '--kerberos');
    expect([without.code, without.stdout]).toEqual([2, '']);
    expect(without.stderr).toContain('zookeeper/localhost');
  });

  it('says what is missing where there is no ticket', async () => {
    const refused = await call(server, realm.env, 'ls', '--kerberos');
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toMatch(/no ticket for zookeeper\/localhost.*kinit/s);
  });
});
