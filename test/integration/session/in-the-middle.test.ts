import { hostname } from 'node:os';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { LockUnavailableError } from '../../../lib/lock/errors.js';
import { type ClosableLockService, createLockService } from '../../../lib/open.js';
import type { DistributedLockOptions } from '../../../lib/options.js';
import { TICK_MS } from '../../support/locks/times.js';
import { outcomeOf } from '../../support/locks/witness.js';
import { type Certificates, createCertificates } from '../../support/zookeeper/certificates.js';
import { startZooKeeper, type StandaloneServer } from '../../support/zookeeper/start-zookeeper.js';

const KEY = '/locks/orders/42';
const LABEL = 'nightly-settlement';
const AUTH = { username: 'orders', password: 'correct-horse' };
// A short name of the host by itself stands by chance among a few thousand encrypted bytes.
const SECRETS = [`${AUTH.username}:${AUTH.password}`, LABEL, KEY, `"host":${JSON.stringify(hostname())}`];

/** Passes everything on, and keeps what it has seen. */
async function startListener(target: number): Promise<AsyncDisposable & { readonly port: number; seen(): string }> {
  const seen: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => seen.push(bytes) && to.write(bytes));
      from.on('error', () => undefined).on('close', () => to.destroy());
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    seen: () => Buffer.concat(seen).toString('latin1'),
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('Somebody on the way to the servers', () => {
  let certificates: Certificates;
  let others: Certificates;
  let real: StandaloneServer;
  /** A ZooKeeper of theirs, to which they lead who asked for the real one. */
  let theirs: StandaloneServer;
  const services: ClosableLockService[] = [];

  beforeAll(async () => {
    [certificates, others] = await Promise.all([createCertificates(), createCertificates({ authority: 'theirs' })]);
    [real, theirs] = await Promise.all([
      startZooKeeper({ tickTimeMs: TICK_MS, tls: { certificates, clientAuth: 'none' } }),
      startZooKeeper({ tickTimeMs: TICK_MS, tls: { certificates: others, clientAuth: 'none' } }),
    ]);
  }, 60_000);
  afterEach(() => Promise.all(services.splice(0).map((service) => service.close(0))));
  afterAll(async () => {
    await Promise.all([real.stop(), theirs.stop()]);
    await Promise.all([certificates.remove(), others.remove()]);
  });

  async function open(port: number, options: Partial<DistributedLockOptions>): Promise<ClosableLockService> {
    const times = { sessionTimeoutMs: 20 * TICK_MS, serverTickMs: TICK_MS, connectTimeoutMs: 3_000 };
    const service = await createLockService({ connect: `127.0.0.1:${port}`, auth: AUTH, ...times, ...options });
    services.push(service);
    return service;
  }

  it('reads everything without TLS: the password, the keys, the labels', async () => {
    await using listener = await startListener(real.port);
    const service = await open(listener.port, {});
    await (await service.acquire(KEY, { label: LABEL })).release();
    for (const secret of SECRETS) expect(listener.seen()).toContain(secret);
  });

  it('reads nothing of that with TLS', async () => {
    await using listener = await startListener(real.securePort);
    const service = await open(listener.port, { tls: { ca: certificates.ca } });
    await (await service.acquire(KEY, { label: LABEL })).release();
    expect(listener.seen().length).toBeGreaterThan(1_000);
    for (const secret of SECRETS) expect(listener.seen()).not.toContain(secret);
  });

  it.each<[string, () => number, object]>([
    ['without TLS', () => theirs.port, {}],
    ['where nothing is verified', () => theirs.securePort, { tls: { rejectUnauthorized: false } }],
  ])('makes two holders by leading one of them to other servers, %s', async (_, port, options) => {
    const first = await (await open(real.port, {})).acquire(KEY);
    const second = await (await open(port(), options)).acquire(KEY);
    expect([first.isHeld(), second.isHeld()]).toEqual([true, true]);
    await Promise.all([first.release(), second.release()]);
  });

  it('cannot lead anybody to other servers with TLS, and is told no password', async () => {
    await using listener = await startListener(theirs.securePort);
    const refused = await outcomeOf(open(listener.port, { tls: { ca: certificates.ca }, connectTimeoutMs: 1_000 }));
    expect(refused).toBeInstanceOf(LockUnavailableError);
    expect((refused as LockUnavailableError).details).toMatch(/certificate/);
    expect(listener.seen()).not.toContain(AUTH.password);
    const session = await outcomeOf(open(theirs.port, { tls: { ca: certificates.ca }, connectTimeoutMs: 1_000 }));
    expect(session).toBeInstanceOf(LockUnavailableError);
  });
});
