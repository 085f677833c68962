import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLockService, type DistributedLockOptions } from '../../lib/index.js';
import { blocks, productionPage, settings } from '../support/production-page.js';
import { freePort } from '../support/proxy/ports.js';
import { startZooKeeper, type StandaloneServer } from '../support/zookeeper/start-zookeeper.js';

const run = promisify(execFile);

describe('On the page about production,', () => {
  describe('the zoo.cfg', () => {
    let server: StandaloneServer;

    beforeAll(async () => {
      const [zooCfg = ''] = blocks('properties');
      const extraConfig = settings(zooCfg);
      expect(Object.keys(extraConfig).length).toBeGreaterThan(8);
      server = await startZooKeeper({ extraConfig });
    });
    afterAll(() => server.stop());

    it.each([
      [1_000, 4_000],
      [10_000, 10_000],
      [100_000, 40_000],
    ])('grants, of %d ms asked, %d', async (sessionTimeoutMs, granted) => {
      await using locks = await createLockService({ connect: server.connect, sessionTimeoutMs });
      await using lock = await locks.acquire('/locks/a');
      expect(lock.remainingMs()).toBeLessThan(granted);
      expect(lock.remainingMs()).toBeGreaterThan(granted / 2);
    });

    it('answers the words of probes, and no others', async () => {
      expect(await server.fourLetter('srvr')).toMatch(/^Mode: standalone$/m);
      expect(await server.fourLetter('cons')).toContain('not in the whitelist');
    });

    it('lets the probe of the manifest see whether the server serves', async () => {
      const [, command = ''] = /readinessProbe:\s+exec: \{ command: \[bash, -c, '([^']+)'\]/.exec(productionPage) ?? [];
      await run('bash', ['-c', command.replace('2181', String(server.port))]);
      await expect(run('bash', ['-c', command.replace('2181', '1')])).rejects.toThrow();
    });
  });

  describe('the steps to TLS', () => {
    const folder = mkdtempSync(join(tmpdir(), 'production-'));
    const [withPem = '', withStores = ''] = blocks('properties').slice(1);
    const places = Object.fromEntries(
      ['zk1.pem', 'ca.pem', 'zk1.p12', 'ca.p12'].map((name) => [`/tls/${name}`, join(folder, name)]),
    );
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

    beforeAll(async () => {
      for (const script of blocks('sh', 'TLS, step by step')) await run('bash', ['-ec', script], { cwd: folder });
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it('keep what has a private key in it from other users', () => {
      const secret = readdirSync(folder).filter((name) => /\.(key|p12)$|^zk1\.pem$/.test(name) && name !== 'ca.p12');
      expect(secret.sort()).toEqual(['ca.key', 'orders.key', 'zk1.key', 'zk1.p12', 'zk1.pem']);
      for (const name of secret) expect([name, statSync(join(folder, name)).mode & 0o077]).toEqual([name, 0]);
    });

    it.each([
      ['keys in PEM', withPem],
      ["stores of Java's kind", withPem + withStores],
    ])('lead to a lock, with %s, for those who have a certificate', async (_what, properties) => {
      const extraConfig: Record<string, string> = settings(properties, places);
      const { secureClientPort, ...files } = extraConfig;
      expect(secureClientPort).toBe('2281');
      const securePort = await freePort();
      const server = await startZooKeeper({
        tickTimeMs: 2_000,
        extraConfig: { ...files, secureClientPort: securePort },
      });
      try {
        const connect = `localhost:${securePort}`;
        const tls = { ca: read('ca.pem'), cert: read('orders.crt'), key: read('orders.key') };
        await using locks = await createLockService({ connect, tls });
        await using lock = await locks.acquire('/locks/a');
        expect(lock.isHeld()).toBe(true);

        const stranger: DistributedLockOptions = { connect, tls: { ca: tls.ca }, connectTimeoutMs: 1_000 };
        await expect(createLockService(stranger)).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
      } finally {
        await server.stop();
      }
    });
  });
});
