import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/process/eventually.js';
import { blocks, productionPage } from '../support/production-page.js';
import { ComposeProject } from './support/compose.js';
import { makeOrdersImage } from './support/orders-image.js';

const run = promisify(execFile);
const SLOW_MS = 600_000;
const SERVERS = ['zk1', 'zk2', 'zk3'] as const;
const APPLICATION_IMAGE = 'orders:1';
const inTime = { withinMs: 60_000, everyMs: 500 };

const folder = mkdtempSync(join(tmpdir(), 'compose-'));
/** What has been made, to be removed in the opposite order. */
const removals: (() => Promise<unknown>)[] = [];
const project = new ComposeProject(folder, `page-${process.pid}`);

const rolesOf = (servers: readonly string[]) => Promise.all(servers.map((server) => project.roleOf(server)));

async function pay(): Promise<bigint> {
  const { status, text } = await project.ask('orders', 'POST', '/orders/42');
  expect({ status, text }).toMatchObject({ status: 201 });
  return BigInt(text);
}

const untilReady = () =>
  eventually(
    'a ready application',
    async () => (await project.ask('orders', 'GET', '/health/ready')).status === 200,
    inTime,
  );

describe('the Compose file of the page about production', () => {
  beforeAll(async () => {
    const [compose = ''] = blocks('yaml');
    const [zooCfg = ''] = blocks('properties');
    expect(compose).toContain(`image: ${APPLICATION_IMAGE}\n`);
    writeFileSync(join(folder, 'compose.yaml'), compose);
    writeFileSync(join(folder, 'zoo.cfg'), zooCfg);
    const { stdout: taken } = await run('docker', ['image', 'ls', '--quiet', APPLICATION_IMAGE]);
    if (taken !== '') throw new Error(`There is an image ${APPLICATION_IMAGE} already, which this test would replace`);
    removals.unshift(() => run('docker', ['image', 'rm', '--force', APPLICATION_IMAGE]));
    await makeOrdersImage(APPLICATION_IMAGE, folder);
    removals.unshift(() => project.compose('down', '--volumes', '--timeout', '1'));
    await project.compose('up', '--detach');
  }, SLOW_MS);

  afterAll(async () => {
    try {
      for (const remove of removals) await remove();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }, SLOW_MS);

  it(
    'starts an application that is ready, over three servers with one leader',
    async () => {
      await untilReady();
      const areAll = async () => (await rolesOf(SERVERS)).sort().join() === 'follower,follower,leader';
      await eventually('a leader and two followers', areAll, inTime);
    },
    SLOW_MS,
  );

  it(
    'bears the loss of one server, the leader',
    async () => {
      const before = await pay();
      const leader = SERVERS[(await rolesOf(SERVERS)).indexOf('leader')] ?? 'zk1';
      await project.compose('stop', leader);
      expect(await pay()).toBeGreaterThan(before);
      await project.compose('start', leader);
      await eventually('its return', async () => (await project.roleOf(leader)) === 'follower', inTime);
    },
    SLOW_MS,
  );

  it(
    'starts an application again that has ended',
    async () => {
      await project.ask('orders', 'POST', '/orders/any/end').catch(() => undefined);
      await eventually(
        'its end',
        async () => (await project.compose('logs', 'orders')).split('Starting Nest').length > 2,
        inTime,
      );
      await untilReady();
    },
    SLOW_MS,
  );

  it(
    'keeps what the servers know, so that tokens go on rising',
    async () => {
      const before = await pay();
      await project.compose('down');
      await project.compose('up', '--detach');
      await untilReady();
      expect(await pay()).toBeGreaterThan(before);
    },
    SLOW_MS,
  );

  it(
    'lets a holder finish when the application is stopped',
    async () => {
      const paid = project.ask('orders', 'POST', '/orders/42/slowly');
      await eventually('a holder', async () => (await project.compose('logs', 'orders')).includes('holding'), inTime);
      await project.compose('stop', 'orders');
      expect(await paid).toEqual({ status: 201, text: 'paid' });
      expect(await project.exitCodeOf('orders')).toBe(0);
    },
    SLOW_MS,
  );
});

it(
  "the command of the manifest's container gives each pod its number, without root",
  async () => {
    const [, command = ''] = /command: \[bash, -c, '(ZOO_MY_ID[^']+)'\]/.exec(productionPage) ?? [];
    const [image = ''] = /zookeeper:[\d.]+/.exec(productionPage) ?? [];
    const name = `pod-${process.pid}`;
    const asPod = ['--name', name, '--hostname', 'zk-2', '--user', '1000', '--entrypoint', 'bash'];
    await run('docker', ['run', '--detach', ...asPod, image, '-c', command]);
    try {
      const probe = async () => (await run('docker', ['exec', name, 'cat', '/data/myid'])).stdout;
      expect(await eventually('its number', probe, inTime)).toBe('3\n');
    } finally {
      await run('docker', ['rm', '--force', '--volumes', name]);
    }
  },
  SLOW_MS,
);
