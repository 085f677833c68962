import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { startContainer } from '../../../support/find-zookeeper/container.js';
import { logToStderr } from '../../../support/find-zookeeper/command.js';
import { firstThatWorks } from '../../../support/find-zookeeper/first-that-works.js';
import { startOwnServer } from '../../../support/find-zookeeper/own-server.js';
import { DEFAULT_TICK_TIME_MS } from '../../../support/zookeeper/options.js';
import { eventually } from '../../../support/process/eventually.js';
import { Stalls } from '../../../support/process/stalls.js';
import { folderRemoved, removeWithUs } from '../../../support/process/reaper.js';
import type { LockView } from '../../../../sample-app/locks/lock-view.js';
import { append, AppendLog } from './appender.js';
import { Instance } from './instance.js';
import { judge } from './verdict.js';

const SESSION_TIMEOUT_MS = 4_000;
/** The tick of ZooKeeper's own sample configuration, and of its container. */
const USUAL_TICK_MS = 2_000;
const APPENDERS = 6;
const LOAD_MS = 4_000;
/** Of the session: how much later than that the next one may be inside. A tick, and the time of a busy machine. */
const HAND_OVER_ALLOWANCE_MS = 3_000;

type Fleet = readonly [Instance, Instance, Instance];

const startedAt = performance.now();

function tell(text: string): void {
  process.stdout.write(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)} s  ${text}\n`);
}

async function startFleet(connect: string, tickMs: number, dataDir: string): Promise<Fleet> {
  const environment = {
    ZOOKEEPER_CONNECT: connect,
    DATA_DIR: dataDir,
    LOCK_WAIT_MS: '20000',
    SESSION_TIMEOUT_MS: String(SESSION_TIMEOUT_MS),
    SERVER_TICK_MS: String(tickMs),
  };
  return Promise.all([
    Instance.start('A', environment),
    Instance.start('B', environment),
    Instance.start('C', environment),
  ]);
}

async function inspect(instance: Instance): Promise<LockView> {
  return (await (await fetch(`${instance.url}/locks/files/journal`)).json()) as LockView;
}

/** Lets the instance sit on the lock; resolves when all the others queue up behind it. */
async function holdWith(holder: Instance, observer: Instance): Promise<LockView> {
  // It never answers: its instance is killed.
  fetch(`${holder.url}/files/journal/hold?seconds=30`, { method: 'POST' }).catch(() => undefined);
  return eventually(`instance ${holder.name} holds the lock, and others wait`, async () => {
    const view = await inspect(observer);
    const isInside = view.holders.some(({ pid, label }) => pid === holder.pid && label === 'FilesController.hold');
    return isInside && view.queueLength === APPENDERS ? view : undefined;
  });
}

async function demo([first, second, third]: Fleet, tickMs: number): Promise<boolean> {
  const fleet = [first, second, third];
  tell(`three instances, one folder: ${fleet.map(({ name, pid }) => `${name} is process ${pid}`).join(', ')}`);

  const log = new AppendLog();
  const stop = new AbortController();
  const load = Array.from({ length: APPENDERS }, (_, index) =>
    append(`appender ${index + 1}`, fleet, index, log, stop.signal),
  );
  await pause(LOAD_MS);
  tell(`${APPENDERS} clients append to one file: ${log.acknowledged.length} lines acknowledged`);

  const view = await holdWith(second, first);
  const [holder] = view.holders;
  tell(`${second.name} holds ${view.key} with token ${holder?.fencingToken}; ${view.queueLength} requests wait`);
  using stalls = Stalls.watch();
  const killedAtMs = performance.now();
  await second.kill();
  tell(`${second.name} is killed (SIGKILL) with the lock in its hands; its session may live ${SESSION_TIMEOUT_MS} ms`);

  const next = await eventually('an append after the kill', () => log.firstAfter(killedAtMs), { withinMs: 30_000 });
  const handOverMs = Math.round(next.atMs - killedAtMs);
  const stalledMs = stalls.totalMs;
  const heir = fleet.find(({ pid }) => pid === next.pid)?.name;
  tell(`${heir} has the lock, and has written with token ${next.fencingToken}: hand-over in ${handOverMs} ms`);

  await pause(LOAD_MS);
  stop.abort();
  await Promise.all(load);
  const text = await (await fetch(`${first.url}/files/journal`)).text();
  const verdict = judge(text, log);
  const counts = fleet.map(({ name, pid }) => `${name} ${log.acknowledged.filter((one) => one.pid === pid).length}`);
  tell(`${log.acknowledged.length} appends acknowledged (${counts.join(', ')}), ${log.refused.length} refused`);
  tell(`${log.unanswered.length} broke off with ${second.name}, ${verdict.unansweredButThere} of them are in the file`);
  const order = verdict.isInOrderOfTokens ? 'in the order of their tokens' : 'NOT in the order of their tokens';
  tell(`the file has ${verdict.lines} lines: ${verdict.lost} lost, ${verdict.torn} torn, ${order}`);
  for (const refusal of log.refused.slice(0, 3)) tell(`refused: ${refusal}`);

  return (
    log.acknowledged.length > 0 &&
    log.refused.length === 0 &&
    verdict.lost === 0 &&
    verdict.torn === 0 &&
    verdict.isInOrderOfTokens &&
    handOverMs <= SESSION_TIMEOUT_MS + tickMs + HAND_OVER_ALLOWANCE_MS + stalledMs
  );
}

const zookeeper = await firstThatWorks(
  [
    { name: "a server from ZooKeeper's jars", start: () => startOwnServer(logToStderr) },
    { name: 'Docker, through testcontainers', start: () => startContainer(logToStderr) },
  ],
  'No ZooKeeper to show anything with: apt-get install libzookeeper-java openjdk-17-jre-headless, or start Docker.',
  logToStderr,
);
const dataDir = await mkdtemp(join(tmpdir(), 'sample-app-demo-'));
removeWithUs(dataDir);
try {
  tell(`a ZooKeeper at ${zookeeper.connect} (${zookeeper.kind})`);
  const tickMs = zookeeper.kind === 'jars' ? DEFAULT_TICK_TIME_MS : USUAL_TICK_MS;
  const fleet = await startFleet(zookeeper.connect, tickMs, dataDir);
  try {
    const isGood = await demo(fleet, tickMs);
    tell(isGood ? 'every promise was kept' : 'A PROMISE WAS BROKEN');
    process.exitCode = isGood ? 0 : 1;
  } finally {
    await Promise.all(fleet.map((instance) => instance.stop()));
  }
} finally {
  await zookeeper.stop();
  await rm(dataDir, { recursive: true, force: true });
  folderRemoved(dataDir);
}
