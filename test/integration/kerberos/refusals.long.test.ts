import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DistributedLockOptions, KerberosAuth } from '../../../lib/options.js';
import { startLocker } from '../../support/kerberos/locker.js';
import type { Answer } from '../../support/kerberos/locking-process.js';
import { type Realm, startRealm } from '../../support/kerberos/realm.js';
import { saslServer } from '../../support/kerberos/sasl-server.js';
import { eventually } from '../../support/process/eventually.js';
import { startProxy } from '../../support/proxy/fault-proxy.js';
import { type StandaloneServer, startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';

const SERVICE = 'zookeeper/localhost';
const TEN_MINUTES = 600;

/** Debian's packages for a KDC may be missing. */
const INSTALLS_WITHIN_MS = 300_000;

describe('Kerberos tells what is wrong, and what to do: it', () => {
  let realm: Realm;
  let server: StandaloneServer;
  let serverKeytab: string;
  let keytab: string;

  beforeAll(async () => {
    realm = await startRealm();
    serverKeytab = await realm.keytab(SERVICE);
    keytab = await realm.keytab('orders');
    server = await startZooKeeper({
      tickTimeMs: 500,
      ...(await saslServer(realm, { principal: SERVICE, keytab: serverKeytab })),
    });
  }, INSTALLS_WITHIN_MS);
  afterAll(async () => {
    await server?.stop();
    await realm?.stop();
  });

  const optionsFor = (port: number, auth: Partial<KerberosAuth> = {}): DistributedLockOptions => ({
    connect: `localhost:${port}`,
    auth: { scheme: 'kerberos', ...auth },
    sessionTimeoutMs: 4_000,
    serverTickMs: 500,
    connectTimeoutMs: 4_000,
  });

  async function start(env: Readonly<Record<string, string>>, options: DistributedLockOptions): Promise<Answer> {
    await using locker = await startLocker(env);
    const answer = await locker.start(options);
    // The key of a keytab is in nobody's mouth.
    expect(`${JSON.stringify(answer)}${locker.output()}`).not.toContain((await readFile(keytab)).toString('latin1'));
    return answer;
  }

  /** The start fails at once, and for good. */
  function expectMisconfigured(answer: Answer, details: RegExp): void {
    expect(answer.error).toMatchObject({ name: 'LockConfigurationError' });
    expect(answer.error?.details).toMatch(/^auth: localhost:\d+/);
    expect(answer.error?.details).toMatch(details);
    expect(answer.tookMs).toBeLessThan(3_000);
  }

  it('says so where there is no ticket', async () => {
    const answer = await start(realm.env, optionsFor(server.port));
    expectMisconfigured(
      answer,
      /no ticket for zookeeper\/localhost: No Kerberos credentials available.*kinit.*KRB5_CLIENT_KTNAME/,
    );
  });

  it('says so where there is no ticket for the principal that is asked for', async () => {
    const answer = await start(realm.withKeytab(keytab, 'a'), optionsFor(server.port, { principal: 'invoices' }));
    expectMisconfigured(answer, /as invoices: Can't find client principal invoices@LOCKS\.TEST/);
  });

  it('says so where the KDC does not know the client', async () => {
    const gone = await realm.keytab('gone');
    await realm.administer('delprinc -force gone');
    const answer = await start(realm.withKeytab(gone, 'gone'), optionsFor(server.port));
    expectMisconfigured(answer, /Client 'gone@LOCKS\.TEST' not found in Kerberos database\. Check the name/);
  });

  it('says so where the KDC does not know the service', async () => {
    const answer = await start(realm.withKeytab(keytab, 'b'), optionsFor(server.port, { host: 'elsewhere' }));
    expectMisconfigured(answer, /zookeeper\/elsewhere: Server zookeeper\/elsewhere@LOCKS\.TEST not found.*auth\.host/);
  });

  it('says so where the keytab of the client is old', async () => {
    const old = await realm.keytab('rotated', { file: 'old' });
    await realm.keytab('rotated', { file: 'new' });
    const answer = await start(realm.withKeytab(old, 'old'), optionsFor(server.port));
    expectMisconfigured(answer, /The keytab has no key for this principal, or an old one/);
  });

  it('says so where the clocks of the client and of the KDC differ', async () => {
    await realm.kinit('orders', keytab, 'skewed');
    await realm.skew('skewed', TEN_MINUTES);
    const answer = await start(realm.withCache('skewed'), optionsFor(server.port));
    expectMisconfigured(answer, /Clock skew too great\. The clocks of this machine and of the KDC differ/);
  });

  it('says so where the clocks of the client and of the server differ', async () => {
    await realm.kinit('orders', keytab, 'skewed-later');
    await realm.ticketFor(SERVICE, 'skewed-later');
    await realm.skew('skewed-later', TEN_MINUTES);
    const answer = await start(realm.withCache('skewed-later'), optionsFor(server.port));
    expectMisconfigured(answer, /refuses the authentication \(error -1\d\d\).*ticket for zookeeper\/localhost.*clock/);
    expect(server.log()).toContain('Clock skew too great');
  });

  it('says so where the server takes no part in SASL', async () => {
    const plain = await startZooKeeper({ tickTimeMs: 500 });
    try {
      const answer = await start(realm.withKeytab(keytab, 'c'), optionsFor(plain.port));
      expectMisconfigured(answer, /takes no part in the authentication.*not set up for SASL/);
    } finally {
      await plain.stop();
    }
  });

  it('says so where the server has another key than the KDC; once up, the client goes on trying and hammers nobody', async () => {
    const principal = 'zookeeper/rekeyed';
    const fitting = await realm.keytab(principal, { file: 'fitting' });
    const rekeyed = await startZooKeeper({
      tickTimeMs: 500,
      ...(await saslServer(realm, { principal, keytab: fitting })),
    });
    try {
      await using proxy = await startProxy({ target: rekeyed.port });
      await using locker = await startLocker(realm.withKeytab(keytab, 'd'));
      expect(await locker.start(optionsFor(proxy.port, { host: 'rekeyed' }))).toMatchObject({ state: 'connected' });
      await locker.tell({ do: 'acquire', key: '/locks/a' });

      // The KDC has new keys, and a client without the old ticket gets a new one, for which this server has no key.
      await realm.keytab(principal, { file: 'unknown-to-the-server' });
      const answer = await start(realm.withKeytab(keytab, 'e'), optionsFor(proxy.port, { host: 'rekeyed' }));
      expectMisconfigured(answer, /refuses the authentication.*its keytab has not the key that the KDC has/);

      // Its ticket for the service goes with the old cache.
      await realm.kinit('orders', keytab, 'd');
      proxy.resetCounts();
      proxy.cut();
      const refused = await locker.tell({ do: 'acquire', key: '/locks/b', waitMs: 5_000 });
      expect(refused.error).toMatchObject({ name: 'LockUnavailableError' });
      expect(refused.error?.details).toContain('its keytab has not the key that the KDC has');
      expect(refused.stalledMs).toBeLessThan(500);
      // Two for each attempt, as the server is first asked whether it serves.
      expect(proxy.counts().connections).toBeLessThan(2 * 15);
      // The lock was lost, and a session that nobody may use is not kept alive for it.
      expect(await locker.tell({ do: 'look' })).toMatchObject({ isHeld: false, state: 'lost' });
      await expectEmpty(rekeyed);
    } finally {
      await rekeyed.stop();
    }
  });

  it('says so where the KDC is silent, by the deadline of the start; the event loop goes on, and so do files', async () => {
    await using locker = await startLocker(realm.withKeytab(keytab, 'silent'));
    await realm.freezeKdc();
    try {
      const answer = await locker.start(optionsFor(server.port));
      expect(answer.error).toMatchObject({ name: 'LockUnavailableError' });
      expect(answer.error?.details).toMatch(/no proof of who this client is \(does the KDC answer\?\) within \d+ ms/);
      expect(answer.tookMs).toBeLessThan(5_500);
      expect(answer.stalledMs).toBeLessThan(500);
      expect(answer.poolStalledMs).toBeLessThan(500);
    } finally {
      await realm.resumeKdc();
    }
    expect(await locker.start(optionsFor(server.port))).toMatchObject({ state: 'connected' });
  });

  it('says so where the KDC is away', async () => {
    await realm.stopKdc();
    try {
      const answer = await start(realm.withKeytab(keytab, 'away'), optionsFor(server.port));
      expect(answer.error).toMatchObject({ name: 'LockUnavailableError' });
      expect(answer.error?.details).toContain("Cannot contact any KDC for realm 'LOCKS.TEST'");
      expect(answer.tookMs).toBeLessThan(5_500);
    } finally {
      await realm.startKdc();
    }
  });

  it('says so where the servers require it, and the client does not know', async () => {
    await using locker = await startLocker(realm.env);
    await using proxy = await startProxy({ target: server.port });
    const started = await locker.start({ connect: proxy.connect, sessionTimeoutMs: 4_000, serverTickMs: 500 });
    const { error } =
      started.error === undefined ? await locker.tell({ do: 'acquire', key: '/locks/c', waitMs: 2_000 }) : started;
    expect(error).toMatchObject({ name: 'LockConfigurationError' });
    expect(error?.details).toMatch(/^auth: the servers let in only who authenticates.*scheme: 'kerberos'/);
    expect(proxy.counts().connections).toBeLessThan(3);
  });

  /** No lock's node is left at the server once its session has ended. */
  async function expectEmpty(one: StandaloneServer): Promise<void> {
    await eventually('the nodes are gone', async () => {
      const { ephemerals } = await one.dump();
      return ![...ephemerals.values()].flat().some((path) => path.startsWith('/locks'));
    });
  }
});
