import { execFileSync } from 'node:child_process';
import { Resolver } from 'node:dns/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { processGate } from '../../../lib/session/wire/name-resolver.js';
import { nameServersSpeak } from '../../../lib/session/wire/name-servers.js';
import { eventually, within } from '../../support/process/eventually.js';
import { ofType, startNodeChild } from '../../support/process/node-child.js';
import { startNameServer, type NameServerAnswer } from '../../support/sessions/name-server.js';

const CLUSTER = ['locks.svc.cluster.local', 'svc.cluster.local'];
const IN_CLUSTER = { resolvConf: `search ${CLUSTER.join(' ')}` };

interface SystemFiles {
  hosts?: string;
  resolvConf?: string;
}

/** What came of asking name servers that say this, in a system with these files, and whom they were asked for. */
async function ask(host: string, answerTo: (name: string) => NameServerAnswer, files: SystemFiles = {}) {
  await using server = await startNameServer(answerTo);
  // So that silence is told in the time of a test.
  const client = new Resolver({ timeout: 100, tries: 1 });
  client.setServers([server.address]);
  const { hosts = '', resolvConf = '' } = files;
  const textOf = (path: string): string => (path === '/etc/hosts' ? hosts : resolvConf);
  const asking = nameServersSpeak(host, new AbortController().signal, client, textOf);
  const outcome = await asking.then(
    () => 'they speak',
    (error: Error) => error.message,
  );
  return { outcome, asked: [...server.asked].sort() };
}

describe('The name servers, before the system is asked for a name:', () => {
  it('name servers that know the name speak', async () => {
    expect(await ask('zk1.test', () => '127.0.0.1')).toEqual({ outcome: 'they speak', asked: ['zk1.test'] });
  });

  it('name servers that say that there is no such name speak: the system may have other sources', async () => {
    expect(await ask('zk1.test', () => 'absent')).toMatchObject({ outcome: 'they speak' });
  });

  it('silent name servers do not speak', async () => {
    expect(await ask('zk1.test', () => 'silent')).toMatchObject({ outcome: 'the name servers do not answer' });
  });

  it('a name of the hosts file needs no asking', async () => {
    const hosts = '127.0.0.1 localhost\n10.0.0.1\tzk1.test zk1 # the first\n';
    expect(await ask('ZK1', () => 'silent', { hosts })).toEqual({ outcome: 'they speak', asked: [] });
  });

  it('a name that stands in a comment of the hosts file needs asking', async () => {
    const hosts = '127.0.0.1 localhost # not zk2\n# 10.0.0.1 zk1\n';
    const outcomes = await Promise.all(['zk1', 'zk2'].map((host) => ask(host, () => 'silent', { hosts })));
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(Array(2).fill('the name servers do not answer'));
  });

  it('name servers that know the name in a search domain speak, though nobody beyond the cluster answers', async () => {
    const outcome = await ask(
      'zk-0.zk',
      (name) => (name.endsWith('.locks.svc.cluster.local') ? '127.0.0.1' : 'silent'),
      IN_CLUSTER,
    );
    expect(outcome).toMatchObject({ outcome: 'they speak' });
  });

  it('name servers that are silent for the name itself, and know it in no search domain, do not speak', async () => {
    const outcome = await ask('zk.sick.test', (name) => (name === 'zk.sick.test' ? 'silent' : 'absent'), IN_CLUSTER);
    expect(outcome).toEqual({
      outcome: 'the name servers do not answer',
      asked: ['zk.sick.test', ...CLUSTER.map((domain) => `zk.sick.test.${domain}`)],
    });
  });

  it('name servers that are silent for a search domain, and know no such name without it, do not speak', async () => {
    const outcome = await ask('zk1', (name) => (name === 'zk1' ? 'absent' : 'silent'), {
      resolvConf: 'domain\tcorp.test',
    });
    expect(outcome).toEqual({ outcome: 'the name servers do not answer', asked: ['zk1', 'zk1.corp.test'] });
  });

  it('the search domains of the last line that names any are asked, as only these count', async () => {
    const resolvConf = 'domain a.test\nsearch b.test\nnameserver 127.0.0.1\nsearch c.test  d.test \noptions ndots:5\n';
    const { asked } = await ask('zk1', () => 'absent', { resolvConf });
    expect(asked).toEqual(['zk1', 'zk1.c.test', 'zk1.d.test']);
  });

  it('a question is taken back at once when its asker gives up', async () => {
    await using server = await startNameServer(() => 'silent');
    const client = new Resolver();
    client.setServers([server.address]);
    const asker = new AbortController();
    const asking = nameServersSpeak('zk1.test', asker.signal, client, () => '');
    await eventually('the name server is asked', () => server.asked.length > 0);
    asker.abort();
    await expect(within(1_000, 'the end of the question', asking)).rejects.toThrow('the name servers do not answer');
  });
});

describe('The gate of the process', () => {
  it('hands over what the system says of a name', async () => {
    const addresses = await processGate.resolve('localhost', new AbortController().signal);
    expect(addresses.some((address) => ['127.0.0.1', '::1'].includes(address))).toBe(true);
  });
});

describe('A process whose name servers are silent', () => {
  let folder: string;
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'hanging-look-up-'))));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('ends by itself within 200 ms once its session is closed', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    await using server = await startNameServer(() => 'silent');
    const script = new URL('../../support/sessions/hanging-look-up-process.ts', import.meta.url);
    await using child = await startNodeChild(script, { args: [server.address, pipe] });
    await child.next('ready', ofType('ready'));
    await eventually('the name server is asked', () => server.asked.length > 0);
    child.send({ type: 'close' });
    // A process tells of its exit, and then waits for the threads of its look-ups: without a gate for ever here.
    const ending = await within(10_000, 'the process ends', child.ended);
    expect(ending).toEqual({ code: 0, signal: null });
    expect(Number(child.output())).toBeLessThan(200);
  });
});
