import type { Neighbour } from '../support/neighbours/neighbour.js';
import { startProxy } from '../support/proxy/fault-proxy.js';
import { startZooKeeper } from '../support/zookeeper/start-zookeeper.js';
import { CONTESTANTS, type ContestantName, type Field, findContestants, type TeamName } from './contestants.js';
import { barRows } from './lock-bars.js';
import { LockFigures } from './lock-figures.js';
import { DELAY_MS, type Scenario, SCENARIOS } from './lock-scenarios.js';
import { BENCH_SERVER } from './bench-server.js';
import type { Report } from './report.js';

const ROUNDS = 7;
/** Before the first round, these do not count: compilers and caches warm up. */
const WARM_UP_ROUNDS = 3;
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
  const teams = new Map<TeamName, Team>();
  const figures = new LockFigures();
  try {
    for (const name of field.starts.keys())
      teams.set(name, await startTeam(field, name, server.connect, proxy.connect));
    for (const scenario of SCENARIOS) {
      for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
        await playRound(scenario, teams, inTurn(round), round < 0 ? undefined : figures);
      }
      const title = `${scenario.title} (medians of ${ROUNDS} interleaved rounds; ratios of pairs)`;
      report.rows(title, figures.rows(scenario.name));
    }
  } finally {
    for (const { near, far } of teams.values()) await Promise.all([...near, far].map((process) => process.stop()));
    await proxy.stop();
  }
  report.table('what is asked of them', barRows(figures));
}

async function startTeam(field: Field, name: TeamName, connect: string, farConnect: string): Promise<Team> {
  const start = field.starts.get(name)!;
  const size = Math.max(
    ...SCENARIOS.filter(({ contestants }) => contestants.includes(name)).map(({ processes }) => processes),
  );
  const near: Neighbour[] = [];
  while (near.length < size) near.push(await start(connect));
  return { near, far: await start(farConnect) };
}

/** Each round begins with another one: who comes behind a long pause, or behind a busy JVM, is slower at first. */
function inTurn(round: number): ContestantName[] {
  return CONTESTANTS.map((_name, index) => CONTESTANTS[(index + WARM_UP_ROUNDS + round) % CONTESTANTS.length]!);
}

async function playRound(
  scenario: Scenario,
  teams: ReadonlyMap<TeamName, Team>,
  names: readonly ContestantName[],
  figures: LockFigures | undefined,
): Promise<void> {
  for (const name of names) {
    const isNode = name === 'ours' || name === 'floor';
    const team = teams.get(isNode ? 'ours' : name);
    if (team === undefined || !scenario.contestants.includes(name)) continue;
    const processes = scenario.delayed ? [team.far] : team.near.slice(0, scenario.processes);
    const command = scenario.command(`/${scenario.name}-${name}`, scenario.durationMs).map(String);
    const words = isNode ? [name, ...command] : command;
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
