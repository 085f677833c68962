import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NameServerRules, SystemNamesOutcome } from '../../support/sessions/system-names-process.js';
import { TYPESCRIPT_FLAGS } from '../../support/typescript/flags.js';

const SCRIPT = fileURLToPath(new URL('../../support/sessions/system-names-process.ts', import.meta.url));
/** The system asks only at port 53, which a real name server of this machine may have at another address. */
const NAME_SERVER = '127.91.53.1';
/** A look-up that hangs takes twice 30 s: the most that the file can say. */
const SLOWEST = 'options timeout:30 attempts:2';
const CLUSTER = ['search locks.svc.cluster.local svc.cluster.local cluster.local', 'options ndots:5'];

interface Situation {
  host: string;
  hosts?: string;
  resolvConf?: string[];
  nameServer?: NameServerRules;
}

interface Outcome {
  told: string;
  endedAfterMs: number;
}

/** What a process is told of a name by a system with these files, and how soon it ends. It takes a mount namespace of its own: root. */
async function inSystem(
  folder: string,
  { host, hosts = '', resolvConf = [], nameServer = {} }: Situation,
): Promise<Outcome> {
  const files = {
    hosts: `127.0.0.1 localhost\n${hosts}\n`,
    'resolv.conf': [`nameserver ${NAME_SERVER}`, SLOWEST, ...resolvConf, ''].join('\n'),
    'nsswitch.conf': 'hosts: files dns\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const mounts = Object.keys(files).map((name) => `mount --bind ${join(folder, name)} /etc/${name}`);
  const shell = [...mounts, 'exec "$@"'].join(' && ');
  const node = [process.execPath, ...TYPESCRIPT_FLAGS, SCRIPT, host, NAME_SERVER, JSON.stringify(nameServer)];
  const { stdout } = await promisify(execFile)('unshare', ['-m', 'sh', '-c', shell, 'sh', ...node], {
    // A process that waits for its look-up is still there after a minute.
    timeout: 30_000,
    killSignal: 'SIGKILL',
  });
  const { told, doneAt } = JSON.parse(stdout) as SystemNamesOutcome;
  return { told, endedAfterMs: Date.now() - doneAt };
}

describe('A process that looks for a server by its name, in a system of its own', () => {
  let folder: string;
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'system-names-'))));
  afterAll(() => rmSync(folder, { recursive: true }));

  const found: [string, Situation, string][] = [
    ['of the hosts file, while the name servers are silent', { host: 'zk1', hosts: '127.0.0.9 zk1' }, '127.0.0.9'],
    ['that name servers know', { host: 'zk1.test', nameServer: { known: ['zk1.test'] } }, '127.0.0.1'],
    [
      'of its cluster, while no name server beyond that answers',
      {
        host: 'zk-0.zk',
        resolvConf: CLUSTER,
        nameServer: { known: ['zk-0.zk.locks.svc.cluster.local'], absent: ['cluster.local'] },
      },
      '127.0.0.1',
    ],
    [
      'in the search domain of the last line that names one',
      { host: 'zk1', resolvConf: ['domain old.test', 'search new.test'], nameServer: { known: ['zk1.new.test'] } },
      '127.0.0.1',
    ],
  ];
  it.each(found)('finds a name %s', async (_name, situation, addresses) => {
    const { told, endedAfterMs } = await inSystem(folder, situation);
    expect(told).toBe(addresses);
    expect(endedAfterMs).toBeLessThan(5_000);
  });

  const silent: [string, Situation][] = [
    ['for every name', { host: 'zk1.test' }],
    ['for every name, and the hosts file has it in a comment', { host: 'zk1', hosts: '# 10.0.0.1 zk1' }],
    ['for its search domain', { host: 'zk1', resolvConf: ['search corp.test'], nameServer: { absent: ['zk1'] } }],
  ];
  it.each(silent)('ends at once, and does not wait for name servers that are silent %s', async (_name, situation) => {
    const { told, endedAfterMs } = await inSystem(folder, situation);
    expect(told).toBe('the name servers do not answer');
    expect(endedAfterMs).toBeLessThan(5_000);
  });
});
