import { onParentMessage, sendToParent } from '../../support/process/parent.js';
import type { DriverName, SessionDriver } from './driver.js';
import { connectOurs } from './ours.js';
import { connectPureJs } from './pure-js.js';
import { connectNative } from './zookeeper.js';

/** One client in a process of its own, so that no other's garbage or compiled code is in its figures. */
export type WorkerTask =
  | { readonly type: 'cycles'; readonly ways: number; readonly cycles: number }
  | { readonly type: 'latency'; readonly rounds: number }
  | { readonly type: 'close' };

const CONNECT: Record<DriverName, (connect: string) => Promise<SessionDriver>> = {
  ours: connectOurs,
  zookeeper: connectNative,
  'node-zookeeper-client': connectPureJs,
};

const [name, connect] = process.argv.slice(2) as [DriverName, string];
const driver = await CONNECT[name](connect);
const root = `/bench-${name}`;
await driver.makeParent(root);
await sendToParent({ type: 'ready' });

onParentMessage((message) => {
  void run(message as WorkerTask).then(
    (result) => sendToParent(result),
    (error: unknown) => sendToParent({ type: 'failed', error: String(error) }),
  );
});

async function run(task: WorkerTask): Promise<object> {
  switch (task.type) {
    case 'cycles':
      return runCycles(task.ways, task.cycles);
    case 'latency':
      return runLatency(task.rounds);
    case 'close':
      await driver.close();
      return { type: 'closed' };
  }
}

/** So many loops at once, each on a parent of its own: create and list, then delete. */
async function runCycles(ways: number, cycles: number): Promise<object> {
  const parents = Array.from({ length: ways }, (_, way) => `${root}/${way}`);
  await Promise.all(parents.map((parent) => driver.makeParent(parent)));
  let started = 0;
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  await Promise.all(
    parents.map(async (parent) => {
      while (started < cycles) {
        started += 1;
        await driver.remove(await driver.createAndList(parent));
      }
    }),
  );
  const tookMs = performance.now() - startedAt;
  const cpu = process.cpuUsage(cpuBefore);
  return {
    type: 'result',
    cyclesPerSecond: (cycles / tookMs) * 1_000,
    cpuMicrosPerCycle: (cpu.user + cpu.system) / cycles,
  };
}

/** One after the other: how long create and list take together. */
async function runLatency(rounds: number): Promise<object> {
  const parent = `${root}/latency`;
  await driver.makeParent(parent);
  const tookMs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const startedAt = performance.now();
    const path = await driver.createAndList(parent);
    tookMs.push(performance.now() - startedAt);
    await driver.remove(path);
  }
  tookMs.sort((left, right) => left - right);
  return { type: 'result', p50Ms: tookMs[Math.floor(rounds * 0.5)], p99Ms: tookMs[Math.floor(rounds * 0.99)] };
}
