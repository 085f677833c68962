import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type DynamicModule, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  DistributedLockModule,
  LockConfigurationError,
  LockService,
  LockUnavailableError,
} from '../../../lib/index.js';
import type { LockHandle } from '../../../lib/lock/handle.js';
import { type ClosableLockService, createLockService } from '../../../lib/open.js';
import type { DistributedLockOptions } from '../../../lib/options.js';
import type { ConnectionState } from '../../../lib/session/connection-state.js';
import { isUp } from '../../../lib/session/connection-state.js';
import type { TlsSettings } from '../../../lib/session/tls-settings.js';
import { LONG_SESSION_MS, TICK_MS } from '../../support/locks/times.js';
import { outcomeOf } from '../../support/locks/witness.js';
import { eventually } from '../../support/process/eventually.js';
import { type FaultProxy, startProxy } from '../../support/proxy/fault-proxy.js';
import { createCertificates, type Certificates, type Identity } from '../../support/zookeeper/certificates.js';
import { type Ensemble, startEnsemble } from '../../support/zookeeper/ensemble.js';
import { startZooKeeper, type StandaloneServer } from '../../support/zookeeper/start-zookeeper.js';

type TlsOption = NonNullable<DistributedLockOptions['tls']>;

let before: Certificates;
let after: Certificates;
const services: ClosableLockService[] = [];

beforeAll(async () => {
  [before, after] = await Promise.all([
    createCertificates({ authority: 'authority-of-2026' }),
    createCertificates({ authority: 'authority-of-2027' }),
  ]);
});
afterEach(() => Promise.all(services.splice(0).map((service) => service.close(0))));
afterAll(() => Promise.all([before.remove(), after.remove()]));

async function open(connect: string, tls: TlsOption, options: object = {}): Promise<ClosableLockService> {
  const times = { sessionTimeoutMs: LONG_SESSION_MS, serverTickMs: TICK_MS };
  const service = await createLockService({ connect, tls, ...times, ...options });
  services.push(service);
  return service;
}

function showing({ cert, key }: Identity, ...authorities: readonly Certificates[]): TlsSettings {
  return { cert, key, ca: authorities.map(({ ca }) => ca) };
}

/** What the servers of `certificates` are to trust: the authorities of these. */
async function trusting(certificates: Certificates, ...authorities: readonly Certificates[]): Promise<Certificates> {
  const caPath = join(dirname(certificates.caPath), `trusted-${authorities.length}.pem`);
  await writeFile(caPath, authorities.map(({ ca }) => ca).join(''));
  return { ...certificates, caPath };
}

async function untilUpAt(service: LockService): Promise<void> {
  await eventually('the session is up', () => isUp(service.connectionState), { everyMs: 5 });
}

describe('Certificates of servers and clients, replaced on an ensemble that runs', () => {
  let ensemble: Ensemble;
  let connect: string;

  beforeAll(async () => {
    const tls = { certificates: await trusting(before, before, after), clientAuth: 'need' as const };
    ensemble = await startEnsemble({ tickTimeMs: TICK_MS, proxies: false, tls });
    connect = ensemble.servers.map(({ securePort }) => `127.0.0.1:${securePort}`).join(',');
  }, 60_000);
  afterAll(() => ensemble.stop());

  it('cost no application its lock or its session, and the old ones are refused from then on', async () => {
    let current = showing(before.client, before);
    // The servers know the application by the subject of its certificate, which stays.
    const service = await open(connect, () => Promise.resolve(current), { acl: 'creator' });
    const states: ConnectionState[] = [];
    service.connectionState$.subscribe((state) => states.push(state));
    const lock = await service.acquire('/locks/kept');
    const { sessionId } = service;

    // The servers trust both authorities by now. The application does so before the first server changes.
    current = showing(after.client, before, after);
    const tls = { certificates: await trusting(after, after), clientAuth: 'need' as const };
    for (const server of ensemble.servers) {
      await server.restart({ tls });
      await ensemble.waitForQuorum();
      await untilUpAt(service);
      expect([lock.isHeld(), service.sessionId]).toEqual([true, sessionId]);
    }
    current = showing(after.client, after);

    expect(states).toContain('suspended');
    expect(states).not.toContain('lost');
    await lock.whenSure();
    await expectToExcludeOthers(service, lock);

    for (const old of [showing(before.client, after), showing(after.client, before)]) {
      const refused = await outcomeOf(open(connect, () => old, { connectTimeoutMs: 1_500 }));
      expect(refused).toBeInstanceOf(LockUnavailableError);
      expect((refused as LockUnavailableError).details).toMatch(/certificate|TLS/i);
    }
    await lock.release();
  }, 90_000);

  async function expectToExcludeOthers(service: LockService, lock: LockHandle): Promise<void> {
    const other = await open(connect, showing(after.client, after), { acl: 'creator' });
    expect(await other.tryAcquire(lock.key)).toBeUndefined();
    const stranger = await open(connect, showing(after.otherClient, after));
    expect(await outcomeOf(stranger.tryAcquire(lock.key))).toBeInstanceOf(LockConfigurationError);
    const next = await service.acquire('/locks/next');
    expect(next.fencingToken).toBeGreaterThan(lock.fencingToken);
    await next.release();
  }
});

describe('A function that tells the settings of TLS', () => {
  let server: StandaloneServer;
  let proxy: FaultProxy;

  beforeAll(async () => {
    server = await startZooKeeper({ tickTimeMs: TICK_MS, tls: { certificates: before, clientAuth: 'need' } });
    proxy = await startProxy({ target: server.securePort, raw: true });
  }, 60_000);
  afterAll(async () => {
    await proxy.stop();
    await server.stop();
  });

  const never = (): Promise<never> => new Promise(() => undefined);
  const fails = (): never => {
    throw new Error('no such file');
  };

  it.each<[string, () => unknown, string]>([
    ['fails', fails, 'tls: the function failed: no such file'],
    ['returns no settings', () => 'ca.pem', 'tls: the function must return an object'],
    [
      'returns settings that do not fit',
      () => ({ cert: before.client.cert, key: after.client.key }),
      'key values mismatch',
    ],
    ['never answers', never, 'the function of the option tls did not answer within'],
    ['returns the settings of other servers', () => showing(after.client, after), 'certificate'],
  ])('takes no lock from a session that lives, where it %s for a while', async (_, bad, text) => {
    let isBad = false;
    let asked = 0;
    const tls = (): TlsSettings => {
      if (isBad) asked += 1;
      return isBad ? (bad() as TlsSettings) : showing(before.client, before);
    };
    const service = await open(proxy.connect, tls);
    const lock = await service.acquire('/locks/held');
    const { sessionId } = service;

    isBad = true;
    proxy.cut();
    await eventually('it was asked in vain', () => asked >= 2, { everyMs: 5 });
    expect(lock.isHeld()).toBe(true);
    const refused = await outcomeOf(service.acquire('/locks/other', { waitMs: 300 }));
    expect((refused as LockUnavailableError).code).toBe('LOCK_UNAVAILABLE');
    expect((refused as LockUnavailableError).details).toContain(text);
    isBad = false;

    await untilUpAt(service);
    expect([lock.isHeld(), service.sessionId]).toEqual([true, sessionId]);
    await lock.whenSure();
    await lock.release();
  });

  it('fails the start at once where it returns no settings, with an error that names the option', async () => {
    const startedAt = performance.now();
    for (const startup of ['eager', 'lazy'] as const) {
      const started = open(proxy.connect, (() => undefined) as unknown as TlsOption, { startup });
      const refused = await outcomeOf(started.then((service) => service.acquire('/locks/a')));
      expect(refused).toBeInstanceOf(LockConfigurationError);
      expect((refused as LockConfigurationError).details).toMatch(/^tls: the function must return an object/);
    }
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it.each<[string, () => unknown, string]>([
    ['fails', fails, 'tls: the function failed: no such file'],
    ['never answers', never, 'the function of the option tls did not answer within'],
    ['returns a path', () => ({ ca: '/tls/ca.pem' }), 'tls: what the function returned cannot be used: ca is not PEM'],
  ])('is asked again where it %s, until the start has no more time', async (_, bad, text) => {
    const refused = await outcomeOf(open(proxy.connect, bad as TlsOption, { connectTimeoutMs: 600 }));
    expect(refused).toBeInstanceOf(LockUnavailableError);
    expect((refused as LockUnavailableError).details).toContain(text);
  });

  it.each<[string, (options: DistributedLockOptions) => DynamicModule]>([
    ['forRoot', (options) => DistributedLockModule.forRoot(options)],
    ['forRootAsync', (options) => DistributedLockModule.forRootAsync({ useFactory: () => Promise.resolve(options) })],
  ])('may be given to %s, too', async (_, moduleWith) => {
    let asked = 0;
    const tls = (): TlsSettings => {
      asked += 1;
      return showing(before.client, before);
    };
    @Module({ imports: [moduleWith({ connect: proxy.connect, tls, serverTickMs: TICK_MS })] })
    class AppModule {}
    const app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
    expect(await app.get(LockService).withLock('/locks/nest', () => 'held')).toBe('held');
    expect(asked).toBe(1);
    await app.close();
  });
});
