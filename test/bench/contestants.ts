import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../support/find-zookeeper/command.js';
import { type RedisServer, startRedis } from '../support/redis/start-redis.js';
import { curatorJava, kazooPython } from '../support/neighbours/install.js';
import { Neighbour } from '../support/neighbours/neighbour.js';
import { folderRemoved, removeWithUs } from '../support/process/reaper.js';
import { findRedlock } from './drivers/redlock.js';

export const CONTESTANTS = ['ours', 'recorded', 'floor', 'redlock', 'curator', 'kazoo'] as const;
export type ContestantName = (typeof CONTESTANTS)[number];

/** Whose processes there are: all that run in Node share theirs, and are told which of them is meant. */
export type TeamName = Exclude<ContestantName, 'recorded' | 'floor' | 'redlock'>;

export function teamOf(name: ContestantName): TeamName {
  return name === 'recorded' || name === 'floor' || name === 'redlock' ? 'ours' : name;
}

/** Starts processes of one kind, each with a session of its own. */
export type Start = (connect: string) => Promise<Neighbour>;

/** How to start those that this machine can run, and why it cannot run the others. */
export interface Field extends AsyncDisposable {
  readonly starts: ReadonlyMap<TeamName, Start>;
  readonly leftOut: ReadonlyMap<ContestantName, string>;
}

export async function findContestants(wanted: ReadonlySet<ContestantName>): Promise<Field> {
  const folder = await mkdtemp(join(tmpdir(), 'lock-bench-'));
  removeWithUs(folder);
  let redis: RedisServer | undefined;
  const starts = new Map<TeamName, Start>();
  const leftOut = new Map<ContestantName, string>();
  for (const [name, find] of [
    ['redlock', async () => (redis = await findRedis())],
    ['curator', async () => starts.set('curator', await compileCurator(folder))],
    ['kazoo', async () => starts.set('kazoo', await findKazoo())],
  ] as const) {
    try {
      if (wanted.has(name)) await find();
    } catch (error) {
      leftOut.set(name, error instanceof Error ? error.message : String(error));
    }
  }
  starts.set('ours', startNode(redis?.port));
  return {
    starts,
    leftOut,
    async [Symbol.asyncDispose]() {
      await redis?.stop();
      await rm(folder, { recursive: true, force: true });
      folderRemoved(folder);
    },
  };
}

/** With the flags of this process, which say how TypeScript is run. */
function startNode(redisPort: number | undefined): Start {
  const script = fileURLToPath(new URL('./drivers/lock-worker.ts', import.meta.url));
  const redis = redisPort === undefined ? [] : [String(redisPort)];
  return (connect) => Neighbour.start('ours', process.execPath, [...process.execArgv, script, connect, ...redis]);
}

/** The one that redlock locks in, and that keeps nothing on the disk. */
function findRedis(): Promise<RedisServer> {
  findRedlock();
  return startRedis();
}

/** Compiled once for all its processes. They run as the JVM does by default, with its best compiler. */
async function compileCurator(folder: string): Promise<Start> {
  const { java, classpath } = await curatorJava();
  const script = fileURLToPath(new URL('./drivers/CuratorBench.java', import.meta.url));
  await run(java, [
    '-m',
    'jdk.compiler/com.sun.tools.javac.Main',
    '-proc:none',
    '-cp',
    classpath,
    '-d',
    folder,
    script,
  ]);
  const flags = ['-Xmx256m', '-Dorg.slf4j.simpleLogger.defaultLogLevel=error', '-cp', `${folder}:${classpath}`];
  return (connect) => Neighbour.start('Curator', java, [...flags, 'CuratorBench', connect]);
}

async function findKazoo(): Promise<Start> {
  const python = await kazooPython();
  const script = fileURLToPath(new URL('./drivers/kazoo_bench.py', import.meta.url));
  return (connect) => Neighbour.start('kazoo', python, [script, connect]);
}
