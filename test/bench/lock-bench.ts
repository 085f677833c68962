import type { Neighbour } from '../support/neighbours/neighbour.js';
import { startProxy } from '../support/proxy/fault-proxy.js';
import { startZooKeeper } from '../support/zookeeper/start-zookeeper.js';
import { type ContestantName, type Field, findContestants } from './contestants.js';
import { barRows } from './lock-bars.js';
import { LockFigures } from './lock-figures.js';
import { DELAY_MS, type Scenario, SCENARIOS } from './lock-scenarios.js';
import { BENCH_SERVER } from './bench-server.js';
import type { Report } from './report.js';

const ROUNDS = 7;
/** Turns before the first round, which do not count: compilers and caches warm up. */
const WARM_UP_TURNS = 3;
/** Longer than the bench: a container that is reaped in between would be made anew at the expense of one contestant. */
const CONTAINER_CHECK_INTERVAL_MS = 3_600_000;

/** The processes of each contestant: those that talk to the server, and one that talks to it from afar. */
interface Team {
  readonly near: readonly Neighbour[];
  readonly far: Neighbour;
}

/** Our locks against the floor and the locks of others, on one server, turn by turn: what disturbs one round disturbs all. */
export async function benchLocks(report: Report): Promise<void> {
  await using field = await findContestants();
  for (const [name, reason] of field.leftOut) report.leftOut('lock', name, reason);
  await using server = await startZooKeeper({
    ...BENCH_SERVER,
    containerCheckIntervalMs: CONTAINER_CHECK_INTERVAL_MS,
  });
  const proxy = await startProxy({ target: server.port, raw: true });
  proxy.delay({ toServerMs: DELAY_MS });
  const teams = new Map<ContestantName, Team>();
  const figures = new LockFigures();
  try {
    for (const name of field.starts.keys())
      teams.set(name, await startTeam(field, name, server.connect, proxy.connect));
    for (const scenario of SCENARIOS) {
      for (let turn = 0; turn < WARM_UP_TURNS; turn += 1) await playRound(scenario, teams, undefined);
      for (let round = 0; round < ROUNDS; round += 1) await playRound(scenario, teams, figures);
      const title = `${scenario.title} (medians of ${ROUNDS} interleaved rounds; ratios of pairs)`;
      report.rows(title, figures.rows(scenario.name));
    }
  } finally {
    for (const { near, far } of teams.values()) await Promise.all([...near, far].map((process) => process.stop()));
    await proxy.stop();
  }
  report.table('what is asked of them', barRows(figures));
}

async function startTeam(field: Field, name: ContestantName, connect: string, farConnect: string): Promise<Team> {
  const start = field.starts.get(name)!;
  const size = Math.max(
    ...SCENARIOS.filter(({ contestants }) => contestants.includes(name)).map(({ processes }) => processes),
  );
  const near: Neighbour[] = [];
  while (near.length < size) near.push(await start(connect));
  return { near, far: await start(farConnect) };
}

async function playRound(
  scenario: Scenario,
  teams: ReadonlyMap<ContestantName, Team>,
  figures: LockFigures | undefined,
): Promise<void> {
  for (const [name, { near, far }] of teams) {
    if (!scenario.contestants.includes(name)) continue;
    const processes = scenario.delayed ? [far] : near.slice(0, scenario.processes);
    const words = scenario.command(`/${scenario.name}-${name}`, scenario.durationMs).map(String);
    const answers = await Promise.all(processes.map((process) => process.ask(...words)));
    figures?.add(scenario.name, name, scenario.figures(answers.map(readAnswer), scenario.durationMs));
  }
}

/** `p50=0.5`, and so on. */
function readAnswer(words: readonly string[]): ReadonlyMap<string, number> {
  return new Map(
    words.map((word) => {
      const [figure = '', value] = word.split('=');
      return [figure, Number(value)];
    }),
  );
}
