import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { run } from '../find-zookeeper/command.js';
import { installWithoutStarting } from '../debian-services/install.js';
import { eventually } from '../process/eventually.js';
import { folderRemoved, killWithUs } from '../process/reaper.js';
import { hasEnded, killProcess } from '../process/signals.js';
import { freePort } from '../proxy/ports.js';
import { makeWorkspace } from '../zookeeper/workspace.js';
import { started } from '../process/started.js';

export interface RedisOptions {
  /** Write every command to the disk before it is answered. @default false */
  durable?: boolean;
  /** The only node of a cluster. @default false */
  cluster?: boolean;
}

const ADVICE =
  'The tests of fencing need a Redis. Install it (Debian: apt-get install redis-server), or set REDIS_SERVER to its program.';
const LOG_TAIL_LINES = 20;
const STARTS_WITHIN_MS = 30_000;

/** The program; installs Debian's package where there is none. */
async function redisProgram(): Promise<string> {
  const program = process.env['REDIS_SERVER'] || 'redis-server';
  if (await runs(program)) return program;
  await installWithoutStarting(['redis-server'], ADVICE);
  if (await runs(program)) return program;
  throw new Error(`Redis is installed, yet ${program} does not run. ${ADVICE}`);
}

function runs(program: string): Promise<boolean> {
  return run(program, ['--version']).then(
    () => true,
    () => false,
  );
}

/** A Redis of a test's own: its data in a temporary folder, on a port of 127.0.0.1. */
export class RedisServer {
  #child: ChildProcess | undefined;

  constructor(
    private readonly program: string,
    private readonly workspace: string,
    readonly port: number,
    private readonly options: RedisOptions,
  ) {}

  async start(): Promise<void> {
    const durability =
      this.options.durable === true ? ['--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no'];
    const cluster =
      this.options.cluster === true ? ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'] : [];
    const place = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.workspace, '--save', ''];
    const args = [...place, ...durability, ...cluster];
    const log = openSync(this.#logPath, 'a');
    try {
      this.#child = spawn(this.program, args, { cwd: this.workspace, stdio: ['ignore', log, log] });
    } finally {
      closeSync(log);
    }
    const child = this.#child;
    child.on('error', () => undefined);
    killWithUs(child);
    await eventually('Redis answers', () => answersPing(this.port), {
      withinMs: STARTS_WITHIN_MS,
      explain: () => this.#logTail(),
      giveUp: () => (hasEnded(child) ? new Error(`Redis has ended.\n${this.#logTail()}`) : undefined),
    });
  }

  /** SIGKILL: what is not on the disk is lost. */
  async kill(): Promise<void> {
    if (this.#child !== undefined) await killProcess(this.#child);
  }

  /** Kills it and removes all it left. Safe to call twice. */
  async stop(): Promise<void> {
    await this.kill();
    await rm(this.workspace, { recursive: true, force: true });
    folderRemoved(this.workspace);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  get #logPath(): string {
    return join(this.workspace, 'redis.log');
  }

  #logTail(): string {
    return readFileSync(this.#logPath, 'utf8').trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n');
  }
}

async function answersPing(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port });
  try {
    await once(socket, 'connect');
    socket.write('PING\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    return answer.toString().startsWith('+PONG');
  } finally {
    socket.destroy();
  }
}

/** Starts a Redis; resolves when it answers. Installs it where it is missing. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const server = new RedisServer(await redisProgram(), await makeWorkspace(), await freePort(), options);
  return started(server, () => server.start());
}
