import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { installWithoutStarting } from '../debian-services/install.js';
import { run } from '../find-zookeeper/command.js';
import { eventually } from '../process/eventually.js';
import { folderRemoved, killWithUs } from '../process/reaper.js';
import { hasEnded, killProcess } from '../process/signals.js';
import { freePort } from '../proxy/ports.js';
import { makeWorkspace } from '../zookeeper/workspace.js';
import { started } from '../process/started.js';

const ADVICE = 'The tests of fencing need a MariaDB. Install it (Debian: apt-get install mariadb-server).';
const LOG_TAIL_LINES = 20;
const STARTS_WITHIN_MS = 30_000;

/** Installs Debian's package where there is no MariaDB. */
async function needMariaDb(): Promise<void> {
  if (await runs()) return;
  await installWithoutStarting(['mariadb-server'], ADVICE);
  if (!(await runs())) throw new Error(`MariaDB is installed, yet mariadbd does not run. ${ADVICE}`);
}

function runs(): Promise<boolean> {
  return run('mariadbd', ['--no-defaults', '--version']).then(
    () => true,
    () => false,
  );
}

/** A MariaDB of a test's own: one process with its data in a temporary folder, on a port of 127.0.0.1. */
export class MariaDbServer {
  readonly database = 'test';
  readonly user = 'root';
  #child: ChildProcess | undefined;

  constructor(
    private readonly workspace: string,
    readonly port: number,
  ) {}

  /** Makes the files of a new database. */
  async initialize(): Promise<void> {
    const args = ['--no-defaults', `--datadir=${this.#dataFolder}`, '--auth-root-authentication-method=normal'];
    await run('mariadb-install-db', [...args, ...AS_ROOT]);
  }

  async start(): Promise<void> {
    const place = [`--datadir=${this.#dataFolder}`, `--socket=${join(this.workspace, 's')}`, `--port=${this.port}`];
    const small = ['--innodb-buffer-pool-size=16M', '--innodb-log-file-size=8M', '--max-connections=40'];
    // In whole seconds; the default is 50.
    const quick = ['--innodb-lock-wait-timeout=1'];
    const args = [
      '--no-defaults',
      '--bind-address=127.0.0.1',
      '--skip-name-resolve',
      ...place,
      ...small,
      ...quick,
      ...AS_ROOT,
    ];
    const log = openSync(this.#logPath, 'a');
    try {
      this.#child = spawn('mariadbd', args, { cwd: this.workspace, stdio: ['ignore', log, log] });
    } finally {
      closeSync(log);
    }
    const child = this.#child;
    child.on('error', () => undefined);
    killWithUs(child);
    await eventually('MariaDB answers', () => greets(this.port), {
      withinMs: STARTS_WITHIN_MS,
      explain: () => this.#logTail(),
      giveUp: () => (hasEnded(child) ? new Error(`MariaDB has ended.\n${this.#logTail()}`) : undefined),
    });
  }

  /** SIGKILL: the next start recovers from the log. */
  async crash(): Promise<void> {
    if (this.#child !== undefined) await killProcess(this.#child);
  }

  /** Kills it and removes all it left. Safe to call twice. */
  async stop(): Promise<void> {
    await this.crash();
    await rm(this.workspace, { recursive: true, force: true });
    folderRemoved(this.workspace);
  }

  get #dataFolder(): string {
    return join(this.workspace, 'data');
  }

  get #logPath(): string {
    return join(this.workspace, 'mariadb.log');
  }

  #logTail(): string {
    return readFileSync(this.#logPath, 'utf8').trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n');
  }
}

/** It runs as root only if it is told to. */
const AS_ROOT = process.getuid?.() === 0 ? ['--user=root'] : [];

/** The server speaks first, once it takes connections. */
async function greets(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port });
  try {
    await once(socket, 'data');
    return true;
  } finally {
    socket.destroy();
  }
}

/** Starts a MariaDB; resolves when it answers. Installs it where it is missing, which takes a minute. */
export async function startMariaDb(): Promise<MariaDbServer> {
  await needMariaDb();
  const server = new MariaDbServer(await makeWorkspace(), await freePort());
  return started(server, async () => {
    await server.initialize();
    await server.start();
  });
}
