import { ofType, startNodeChild, type NodeChild } from '../support/process/node-child.js';
import { startZooKeeper } from '../support/zookeeper/start-zookeeper.js';
import type { DriverName } from './drivers/driver.js';
import type { WorkerTask } from './drivers/worker.js';
import { BENCH_SERVER } from './bench-server.js';
import type { Report, Row } from './report.js';
import { median, medianRatio } from './statistics.js';

const PAIRS = 7;
const WAYS = 200;
const CYCLES = 12_000;
const ROUNDS = 1_000;
const TASK_WITHIN_MS = 120_000;
/** What it takes all three clients on a machine that does nothing else. */
export const SESSION_SECONDS = 75;

interface Figures {
  readonly cyclesPerSecond: number[];
  readonly cpuMicrosPerCycle: number[];
  readonly p50Ms: number[];
  readonly p99Ms: number[];
}

/** Our session against the npm packages, on one server, turn by turn: what disturbs one round disturbs all of them. */
export async function benchSessions(report: Report): Promise<void> {
  await using server = await startZooKeeper(BENCH_SERVER);
  const children = new Map<DriverName, NodeChild>();
  const figures = new Map<DriverName, Figures>();
  for (const name of ['ours', 'zookeeper', 'node-zookeeper-client'] as const) {
    const child = await start(name, server.connect);
    if (child === undefined) {
      report.leftOut('session', name, 'it is not installed (npm run native:install)');
      continue;
    }
    children.set(name, child);
    figures.set(name, { cyclesPerSecond: [], cpuMicrosPerCycle: [], p50Ms: [], p99Ms: [] });
    await ask(child, { type: 'cycles', ways: WAYS, cycles: CYCLES });
    await ask(child, { type: 'latency', rounds: ROUNDS });
  }
  for (let pair = 0; pair < PAIRS; pair += 1) {
    for (const [name, child] of children) {
      const own = figures.get(name)!;
      const cycles = await ask(child, { type: 'cycles', ways: WAYS, cycles: CYCLES });
      own.cyclesPerSecond.push(Number(cycles.cyclesPerSecond));
      own.cpuMicrosPerCycle.push(Number(cycles.cpuMicrosPerCycle));
      const latency = await ask(child, { type: 'latency', rounds: ROUNDS });
      own.p50Ms.push(Number(latency.p50Ms));
      own.p99Ms.push(Number(latency.p99Ms));
    }
  }
  for (const child of children.values()) {
    child.send({ type: 'close' } satisfies WorkerTask);
    await child.next('closed', ofType('closed'));
    await child.kill();
  }
  report.rows(`${WAYS} at once: create+list, then delete (medians of ${PAIRS} interleaved rounds)`, cycleRows(figures));
  report.rows(`one after the other: create+list (medians of ${PAIRS} interleaved rounds)`, latencyRows(figures));
}

async function start(name: DriverName, connect: string): Promise<NodeChild | undefined> {
  const child = await startNodeChild(new URL('./drivers/worker.ts', import.meta.url), { args: [name, connect] });
  try {
    await child.next('ready', ofType('ready'));
    return child;
  } catch (error) {
    await child.kill();
    // What runs the TypeScript puts an error of its own in the place of Node's, which has a code.
    if (name === 'zookeeper' && /ERR_MODULE_NOT_FOUND|Cannot find module 'zookeeper'/.test(child.output()))
      return undefined;
    throw error;
  }
}

async function ask(child: NodeChild, task: WorkerTask): Promise<Record<string, unknown>> {
  child.send(task);
  const answer = await child.next(
    task.type,
    (message) => ofType('result')(message) || ofType('failed')(message),
    TASK_WITHIN_MS,
  );
  if (!ofType('result')(answer)) throw new Error(`The benchmark failed: ${JSON.stringify(answer)}`);
  return answer;
}

function cycleRows(figures: ReadonlyMap<DriverName, Figures>): Row[] {
  const ours = figures.get('ours')!;
  return [...figures].map(([name, own]) => ({
    name,
    scenario: 'session-200-cycles',
    cycles_s: median(own.cyclesPerSecond),
    cpu_us_per_cycle: median(own.cpuMicrosPerCycle),
    ours_times_faster: medianRatio(ours.cyclesPerSecond, own.cyclesPerSecond),
    ours_part_of_cpu: medianRatio(ours.cpuMicrosPerCycle, own.cpuMicrosPerCycle),
  }));
}

function latencyRows(figures: ReadonlyMap<DriverName, Figures>): Row[] {
  const ours = figures.get('ours')!;
  return [...figures].map(([name, own]) => ({
    name,
    scenario: 'session-sequential',
    create_list_p50_ms: median(own.p50Ms),
    create_list_p99_ms: median(own.p99Ms),
    ours_part_of_p50: medianRatio(ours.p50Ms, own.p50Ms),
  }));
}
