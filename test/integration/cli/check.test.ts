import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CheckItem, EnsembleCheckFacts } from '../../../lib/extras/doctor/index.js';
import { create } from '../../../lib/session/requests.js';
import { useZkLock } from '../../support/command-line/use-zk-lock.js';
import type { Finished } from '../../support/command-line/zk-lock-process.js';
import { TICK_MS } from '../../support/locks/times.js';
import { replyTo } from '../../support/sessions/reply-to.js';
import { openWire, untilUp } from '../../support/sessions/wire-session.js';
import { type Certificates, createCertificates } from '../../support/zookeeper/certificates.js';
import { type StandaloneServer, startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';

describe('zk-lock check', () => {
  let certificates: Certificates;
  let server: StandaloneServer;
  const { zkLock } = useZkLock(() => server.connect);
  let folder: string;

  beforeAll(async () => {
    certificates = await createCertificates();
    server = await startZooKeeper({ tickTimeMs: TICK_MS, tls: { certificates, clientAuth: 'need' } });
    folder = await mkdtemp(join(tmpdir(), 'zk-lock-check-'));
  }, 60_000);
  afterAll(async () => {
    await server.stop();
    await certificates.remove();
    await rm(folder, { recursive: true });
  });

  const check = (...args: string[]): Promise<Finished> =>
    zkLock.call(['check', '--connect', server.connect, '--server-tick', `${TICK_MS}ms`, ...args]);
  const itemsOf = ({ stdout }: Finished): Map<string, CheckItem> =>
    new Map((JSON.parse(stdout) as EnsembleCheckFacts).items.map((item) => [item.name, item]));

  it('finds that locks will work, measures what that leans on, and leaves nothing behind', async () => {
    const found = await check('--json');
    expect([found.code, found.stderr]).toEqual([0, '']);
    const { outcome, sessionTimeoutMs, sessionBoundsMs, commits, lockMs, loopDelayMs, servers } = JSON.parse(
      found.stdout,
    ) as EnsembleCheckFacts;
    expect(sessionTimeoutMs).toEqual({ asked: 10_000, granted: 20 * TICK_MS });
    expect(sessionBoundsMs).toEqual({ least: 2 * TICK_MS, most: 20 * TICK_MS });
    expect(commits!.count).toBe(100);
    expect(commits!.p50Ms).toBeGreaterThan(0);
    expect(commits!.p99Ms).toBeGreaterThanOrEqual(commits!.p50Ms);
    expect(lockMs).toBeGreaterThan(0);
    expect(loopDelayMs).toBeGreaterThanOrEqual(0);
    expect(servers).toEqual([{ server: server.connect, version: expect.stringMatching(/^3\.\d/), role: 'standalone' }]);
    // One server alone is no fault, and not what production has.
    expect(outcome).not.toBe('failed');
    expect(itemsOf(found).get('servers')).toMatchObject({
      outcome: 'warning',
      advice: expect.stringContaining('single server'),
    });

    const operator = openWire([server.port], { sessionTimeoutMs: 5_000 });
    await untilUp(operator);
    const { children } = await replyTo(operator, { op: 'list', path: '/' });
    expect(children.filter((name) => name !== 'zookeeper' && name !== '.sessions')).toEqual([]);
    await operator.close();
  });

  it('says each thing in a line for people; with --strict a warning fails', async () => {
    const found = await check('--strict');
    expect(found.code).toBe(1);
    for (const name of ['servers', 'tls', 'session time-out', 'ticks', 'access', 'commits', 'clocks'])
      expect(found.stdout).toMatch(new RegExp(`^(ok|warning) +${name} +\\S`, 'm'));
  });

  it('fails with a tick that is less than the servers’, by which holders would believe in their locks for too long', async () => {
    const found = await check('--json', '--server-tick', '100ms');
    expect(found.code).toBe(1);
    expect(itemsOf(found).get('ticks')).toMatchObject({
      outcome: 'failed',
      advice: expect.stringContaining(`serverTickMs to ${TICK_MS}`),
    });
  });

  it('fails with a session time-out that no lock could be certain with, and says so', async () => {
    const found = await check('--json', '--server-tick', '8s');
    expect(found.code).toBe(1);
    expect(itemsOf(found).get('connection')).toMatchObject({
      outcome: 'failed',
      text: expect.stringContaining('sessionTimeoutMs'),
    });
  });

  it('warns of a session time-out that is not granted', async () => {
    const found = await check('--json', '--session-timeout', '60s');
    expect(found.code).toBe(0);
    expect(itemsOf(found).get('session time-out')).toMatchObject({
      outcome: 'warning',
      text: expect.stringContaining('60000 ms asked'),
    });
  });

  it('fails where writes take longer than is allowed', async () => {
    const found = await check('--json', '--max-commit', '0ms');
    expect(found.code).toBe(1);
    expect(itemsOf(found).get('commits')).toMatchObject({ outcome: 'failed' });
  });

  it('fails where the application may not make nodes', async () => {
    const operator = openWire([server.port], { sessionTimeoutMs: 5_000 });
    await untilUp(operator);
    await replyTo(
      operator,
      create('/theirs', 'persistent', undefined, [{ permissions: 1, scheme: 'world', id: 'anyone' }]),
    );
    await operator.close();
    const found = await check('--json', '/theirs');
    expect(found.code).toBe(1);
    expect(itemsOf(found).get('access')).toMatchObject({
      outcome: 'failed',
      text: expect.stringContaining('denies access to the queue of /theirs'),
    });
  });

  it('speaks TLS with the files that the options name, and tells when a certificate ends', async () => {
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    await writeFile(cert, certificates.client.cert);
    await writeFile(key, certificates.client.key);
    const found = await check(
      '--json',
      '--connect',
      `127.0.0.1:${server.securePort}`,
      '--tls-ca',
      certificates.caPath,
      '--tls-cert',
      cert,
      '--tls-key',
      key,
    );
    expect([found.code, found.stderr]).toEqual([0, '']);
    expect(itemsOf(found).get('tls')).toMatchObject({
      outcome: 'ok',
      text: expect.stringMatching(/^TLSv1\.[23], .* ends in (29|30) days$/),
    });
    expect((JSON.parse(found.stdout) as EnsembleCheckFacts).servers[0]).toMatchObject({ role: 'standalone' });
  });

  it('takes a digest from a file, and warns of a password in plain text', async () => {
    const file = join(folder, 'digest');
    await writeFile(file, 'ada:secret:with:colons\n');
    const found = await check('--json', '--auth-digest-file', file);
    expect([found.code, found.stderr]).toEqual([0, '']);
    expect(itemsOf(found).get('tls')).toMatchObject({
      outcome: 'warning',
      advice: expect.stringContaining('plain text'),
    });
    expect(itemsOf(found).get('access')).toMatchObject({ text: expect.stringContaining('with a digest') });
    expect(found.stdout).not.toContain('secret');
  });

  it('shows a prefix that is none as it was given', async () => {
    const found = await check('orders');
    expect(found).toMatchObject({ code: 2, stdout: '' });
    expect(found.stderr).toContain('Not a lock key: "orders". A key is an absolute path');
  });

  it('ends with 3 where no server answers, and says what each said', async () => {
    const found = await zkLock.call(['check', '--connect', '127.0.0.1:1', '--connect-timeout', '300ms', '--json']);
    expect(found).toMatchObject({ code: 3, stdout: '' });
    expect(JSON.parse(found.stderr)).toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringContaining('127.0.0.1:1'),
    });
  });
});
