import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { chown, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { run } from '../find-zookeeper/command.js';
import { eventually } from '../process/eventually.js';
import { folderRemoved, killWithUs } from '../process/reaper.js';
import { hasEnded, killProcess } from '../process/signals.js';
import { freePort } from '../proxy/ports.js';
import { makeWorkspace } from '../zookeeper/workspace.js';
import { postgresFolder, postgresUser } from './find-postgres.js';
import { started } from '../process/started.js';

export interface PostgresOptions {
  /** Write through to the disk, as in production; off, so that tests are quick. @default false */
  durable?: boolean;
}

interface Settings {
  readonly workspace: string;
  readonly binaries: string;
  readonly user: { uid: number; gid: number } | undefined;
  readonly port: number;
  readonly durable: boolean;
}

const LOG_TAIL_LINES = 20;
const STARTS_WITHIN_MS = 30_000;

/** A PostgreSQL of a test's own: one process with its data in a temporary folder, on a port of 127.0.0.1. */
export class PostgresServer {
  #child: ChildProcess | undefined;

  constructor(private readonly settings: Settings) {}

  get port(): number {
    return this.settings.port;
  }

  /** What `pg` connects to. */
  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
  }

  async start(): Promise<void> {
    const { binaries, user, port, durable } = this.settings;
    const lasting = durable ? 'on' : 'off';
    const options = {
      listen_addresses: '127.0.0.1',
      port,
      unix_socket_directories: '',
      max_connections: 40,
      shared_buffers: '16MB',
      fsync: lasting,
      synchronous_commit: lasting,
      full_page_writes: lasting,
    };
    const args = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const log = openSync(this.#logPath, 'a');
    try {
      this.#child = spawn(join(binaries, 'postgres'), ['-D', this.#dataFolder, ...args], {
        cwd: this.settings.workspace,
        stdio: ['ignore', log, log],
        ...user,
      });
    } finally {
      closeSync(log);
    }
    const child = this.#child;
    child.on('error', () => undefined);
    killWithUs(child);
    await eventually('PostgreSQL answers', () => this.#answers(), {
      withinMs: STARTS_WITHIN_MS,
      explain: () => this.#logTail(),
      giveUp: () => (hasEnded(child) ? new Error(`PostgreSQL has ended.\n${this.#logTail()}`) : undefined),
    });
  }

  /** Ends as in a crash, without writing what is in memory: the next start recovers from the log. */
  async crash(): Promise<void> {
    await this.#end('SIGQUIT');
  }

  /** Ends it and removes all it left. Safe to call twice. */
  async stop(): Promise<void> {
    await this.#end('SIGQUIT');
    await rm(this.settings.workspace, { recursive: true, force: true });
    folderRemoved(this.settings.workspace);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Makes the files of a new database. */
  async initialize(): Promise<void> {
    const { binaries, user, workspace } = this.settings;
    if (user !== undefined) await chown(workspace, user.uid, user.gid);
    const args = ['-D', this.#dataFolder, '-U', 'postgres', '-E', 'UTF8', '--auth=trust', '--no-locale', '--no-sync'];
    await promisify(execFile)(join(binaries, 'initdb'), args, { cwd: workspace, ...user });
  }

  get #dataFolder(): string {
    return join(this.settings.workspace, 'data');
  }

  get #logPath(): string {
    return join(this.settings.workspace, 'postgres.log');
  }

  #answers(): Promise<boolean> {
    const args = ['-h', '127.0.0.1', '-p', String(this.port), '-q'];
    return run(join(this.settings.binaries, 'pg_isready'), args).then(
      () => true,
      () => false,
    );
  }

  /** SIGKILL would leave its shared memory behind, and its workers for a while. */
  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined || hasEnded(child)) return;
    child.ref();
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill(signal);
    const timer = setTimeout(() => void killProcess(child), 5_000);
    await ended;
    clearTimeout(timer);
  }

  #logTail(): string {
    return readFileSync(this.#logPath, 'utf8').trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n');
  }
}

/** Starts a PostgreSQL; resolves when it answers. Installs it where it is missing, which takes a minute. */
export async function startPostgres({ durable = false }: PostgresOptions = {}): Promise<PostgresServer> {
  const binaries = await postgresFolder();
  const user = await postgresUser();
  const server = new PostgresServer({
    workspace: await makeWorkspace(),
    binaries,
    user,
    port: await freePort(),
    durable,
  });
  return started(server, async () => {
    await server.initialize();
    await server.start();
  });
}
