import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { DistributedLockOptions } from '../../../lib/options.js';
import { type Locker, startLocker } from '../../support/kerberos/locker.js';
import { type Realm, startRealm } from '../../support/kerberos/realm.js';
import { saslServer } from '../../support/kerberos/sasl-server.js';
import { eventually } from '../../support/process/eventually.js';
import { Stalls } from '../../support/process/stalls.js';
import { type FaultProxy, startProxy } from '../../support/proxy/fault-proxy.js';
import { createCertificates } from '../../support/zookeeper/certificates.js';
import { type StandaloneServer, startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';

/** The least that a ticket may live: MIT Kerberos itself refuses less than a few seconds. */
const SHORT_LIFE = '4s';
/** A restart of the server must fit in, also where much else is running. */
const S_MS = 16_000;

/** Debian's packages for a KDC may be missing. */
const INSTALLS_WITHIN_MS = 300_000;

describe('A lock that is held as a Kerberos principal', () => {
  let realm: Realm;
  let server: StandaloneServer;
  let proxy: FaultProxy;
  let serverKeytab: string;
  let keytab: string;
  let options: DistributedLockOptions;
  /** A test's own, because the nodes of a principal are for it alone. */
  let key: string;
  let keys = 0;

  beforeAll(async () => {
    realm = await startRealm();
    serverKeytab = await realm.keytab('zookeeper/localhost');
    keytab = await realm.keytab('orders');
    const sasl = await saslServer(realm, { principal: 'zookeeper/localhost', keytab: serverKeytab });
    server = await startZooKeeper({ tickTimeMs: 1_000, ...sasl });
  }, INSTALLS_WITHIN_MS);
  beforeEach(async () => {
    keys += 1;
    key = `/locks-${keys}/42`;
    proxy = await startProxy({ target: server.port });
    options = {
      connect: `localhost:${proxy.port}`,
      auth: { scheme: 'kerberos' },
      sessionTimeoutMs: S_MS,
      serverTickMs: 500,
    };
  });
  afterEach(() => proxy.stop());
  afterAll(async () => {
    await server?.stop();
    await realm?.stop();
  });

  /** What was asked since the last reset, without the pings. */
  const opcodes = (): string[] =>
    proxy
      .requests()
      .map(({ opcode }) => opcode)
      .filter((opcode) => opcode !== 'ping');

  async function holding(env: Readonly<Record<string, string>>): Promise<Locker> {
    const locker = await startLocker(env);
    expect(await locker.start(options)).toMatchObject({ state: 'connected' });
    expect(await locker.tell({ do: 'acquire', key })).toMatchObject({ isHeld: true });
    return locker;
  }

  /** The link is cut, and the lock is the same when it is up again. */
  async function survives(locker: Locker, cut: () => unknown): Promise<void> {
    const before = await locker.tell({ do: 'look' });
    proxy.resetCounts();
    await cut();
    await eventually('the link is up again', async () => {
      const { state } = await locker.tell({ do: 'look' });
      return state === 'reconnected' && opcodes().includes('sasl');
    });
    const after = await locker.tell({ do: 'look' });
    expect([after.isHeld, after.nodePath]).toEqual([true, before.nodePath]);
  }

  it('was acquired behind the authentication, and is released', async () => {
    using stalls = Stalls.watch();
    await using locker = await startLocker(realm.withKeytab(keytab, 'first'));
    const started = await locker.start(options);
    expect(started).toMatchObject({ state: 'connected' });
    expect(opcodes()).toEqual(['connect', 'sasl', 'sasl', 'sasl']);
    // What takes time is done in the thread pool.
    expect(started.stalledMs).toBeLessThan(200 + stalls.totalMs);

    expect(await locker.tell({ do: 'acquire', key })).toMatchObject({ isHeld: true });
    expect(await locker.tell({ do: 'release' })).toMatchObject({ isHeld: false });
    expect(await locker.tell({ do: 'close' })).toMatchObject({ state: 'closed' });
    expect(server.log()).toContain('adding SASL authorization for authorizationID: orders@LOCKS.TEST');
  });

  it('survives a cut of the link and a restart of the server, and authentication comes before anything else', async () => {
    await using locker = await holding(realm.withKeytab(keytab, 'second'));
    await survives(locker, () => proxy.cut());
    expect(opcodes().slice(0, 4)).toEqual(['connect', 'sasl', 'sasl', 'sasl']);

    await survives(locker, () => server.restart());
    const connected = opcodes().lastIndexOf('connect');
    expect(opcodes().slice(connected, connected + 4)).toEqual(['connect', 'sasl', 'sasl', 'sasl']);
    // The server requires it, and would have hung up on anything else.
    expect(
      opcodes()
        .slice(0, connected)
        .every((opcode) => opcode === 'connect' || opcode === 'sasl'),
    ).toBe(true);
    await locker.tell({ do: 'release' });
  });

  it('goes over TLS, too', async () => {
    const certificates = await createCertificates();
    const sasl = await saslServer(realm, { principal: 'zookeeper/localhost', keytab: serverKeytab });
    const secure = await startZooKeeper({ tickTimeMs: 1_000, ...sasl, tls: { certificates, clientAuth: 'none' } });
    try {
      await using locker = await startLocker(realm.withKeytab(keytab, 'tls'));
      const tls = { ca: certificates.ca };
      expect(await locker.start({ ...options, connect: `localhost:${secure.securePort}`, tls })).toMatchObject({
        state: 'connected',
      });
      expect(await locker.tell({ do: 'acquire', key })).toMatchObject({ isHeld: true });
      expect(await locker.tell({ do: 'release' })).toMatchObject({ isHeld: false });
    } finally {
      await secure.stop();
      await certificates.remove();
    }
  });

  it('survives its ticket: the next connection gets a new one by the keytab', async () => {
    const short = await realm.keytab('short', { maxLife: SHORT_LIFE });
    await using locker = await holding(realm.withKeytab(short, 'short'));
    const first = await realm.klist('short');
    await outlived();
    expect(await locker.tell({ do: 'look' })).toMatchObject({ isHeld: true, state: 'connected' });

    await survives(locker, () => proxy.cut());
    expect(await realm.klist('short')).not.toBe(first);
    await locker.tell({ do: 'release' });
  });

  it('survives its ticket: something renews the one in the cache, and the next connection takes that', async () => {
    await realm.kinit('orders', keytab, 'renewed', '-l', SHORT_LIFE, '-r', '1h');
    await using locker = await holding(realm.withCache('renewed'));
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await realm.renew('renewed');
    await new Promise((resolve) => setTimeout(resolve, 2_500));

    await survives(locker, () => proxy.cut());
    await locker.tell({ do: 'release' });
  });

  it('waits after a cut for a ticket, if it outlives one that nobody renews, and says so', async () => {
    await realm.kinit('orders', keytab, 'late', '-l', SHORT_LIFE);
    await using locker = await holding(realm.withCache('late'));
    await outlived();
    expect(await locker.tell({ do: 'look' })).toMatchObject({ isHeld: true, state: 'connected' });
    proxy.resetCounts();
    proxy.cut();
    const refused = await locker.tell({ do: 'acquire', key: `${key}-other`, waitMs: 1_500 });
    expect(refused.error).toMatchObject({ name: 'LockUnavailableError' });
    expect(refused.error?.details).toMatch(
      /Kerberos gives no ticket for zookeeper\/localhost: Ticket expired\. It must be renewed/,
    );
    expect(refused.tookMs).toBeLessThan(3_000);
    // Nothing is offered without a ticket, and the pauses between attempts grow. The server is asked first whether it
    // serves, which takes another connection.
    expect(opcodes()).toEqual([]);
    expect(proxy.counts().connections).toBeLessThan(2 * 8);

    await realm.kinit('orders', keytab, 'late');
    await survives(locker, () => undefined);
    await locker.tell({ do: 'release' });
  });

  it('survives a cut while the KDC is away, with the ticket that is there', async () => {
    await using locker = await holding(realm.withKeytab(keytab, 'alone'));
    await realm.stopKdc();
    try {
      await survives(locker, () => proxy.cut());
    } finally {
      await realm.startKdc();
    }
    await locker.tell({ do: 'release' });
  });

  it('has nodes that only this principal may use', async () => {
    await using locker = await holding(realm.withKeytab(keytab, 'creator'));
    await using thief = await startLocker(realm.withKeytab(await realm.keytab('thief'), 'thief'));
    await thief.start(options);
    const refused = await thief.tell({ do: 'acquire', key, waitMs: 1_000 });
    expect(refused.error).toMatchObject({ name: 'LockConfigurationError' });
    expect(refused.error?.details).toContain('belongs to clients with other credentials');
    expect(await locker.tell({ do: 'look' })).toMatchObject({ isHeld: true });
    await locker.tell({ do: 'release' });

    // Another process of the same principal may.
    await using colleague = await startLocker(realm.withKeytab(keytab, 'colleague'));
    await colleague.start(options);
    expect(await colleague.tell({ do: 'acquire', key })).toMatchObject({ isHeld: true });
  });

  /** Waits until a ticket of a short life has run out. */
  async function outlived(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, Number.parseInt(SHORT_LIFE, 10) * 1_000 + 500));
  }
});
