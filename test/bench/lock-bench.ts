import type { Neighbour } from '../support/neighbours/neighbour.js';
import { CONTESTANTS, type ContestantName, type Field, findContestants, type TeamName, teamOf } from './contestants.js';
import { barRows } from './lock-bars.js';
import { LockFigures } from './lock-figures.js';
import { contestantsOf, type LockPlan } from './lock-plan.js';
import type { Scenario } from './lock-scenarios.js';
import type { Stage, Venue } from './lock-stages.js';
import type { Report, Row } from './report.js';

/** The processes of each contestant: those that talk to the server, and one that talks to it from afar. */
interface Team {
  readonly near: readonly Neighbour[];
  readonly far: readonly Neighbour[];
}
type Teams = ReadonlyMap<TeamName, Team>;

/** Our locks against the floor and the locks of others, at one server, turn by turn: what disturbs one round disturbs all. */
export async function benchLocks(report: Report, plan: LockPlan): Promise<void> {
  await using field = await findContestants(contestantsOf(plan));
  for (const [name, reason] of field.leftOut) report.leftOut('lock', name, reason);
  const bars: Row[] = [];
  for (const { stage, scenarios } of plan.parts) {
    const figures = new LockFigures(stage.name);
    await playStage(stage, scenarios, { plan, field, figures, report });
    bars.push(...barRows(stage.name, figures));
  }
  report.table('what is asked of them', bars);
}

interface Match {
  readonly plan: LockPlan;
  readonly field: Field;
  readonly figures: LockFigures;
  readonly report: Report;
}

async function playStage(stage: Stage, scenarios: readonly Scenario[], match: Match): Promise<void> {
  await using venue = await stage.open();
  const teams = new Map<TeamName, Team>();
  try {
    for (const name of match.field.starts.keys()) {
      teams.set(name, await startTeam(match.field, name, scenarios, venue));
    }
    for (const scenario of scenarios) {
      await playScenario(scenario, teams, match);
      await venue.check();
      reportScenario(stage, scenario, match);
    }
  } finally {
    for (const { near, far } of teams.values()) await Promise.all([...near, ...far].map((process) => process.stop()));
  }
}

async function startTeam(field: Field, name: TeamName, scenarios: readonly Scenario[], venue: Venue): Promise<Team> {
  const start = field.starts.get(name)!;
  const own = scenarios.filter(({ contestants }) => contestants.some((contestant) => teamOf(contestant) === name));
  const size = Math.max(0, ...own.map(({ processes }) => processes));
  const near: Neighbour[] = [];
  while (near.length < size) near.push(await start(venue.connect));
  const isWantedFar = venue.farConnect !== undefined && own.some(({ delayed }) => delayed);
  return { near, far: isWantedFar ? [await start(venue.farConnect)] : [] };
}

async function playScenario(scenario: Scenario, teams: Teams, { plan, field, figures }: Match): Promise<void> {
  const names = CONTESTANTS.filter((name) => scenario.contestants.includes(name) && !field.leftOut.has(name));
  if (scenario.alsoWarmedBy !== undefined) {
    for (const name of names) await warm(scenario, name, teams.get(teamOf(name))!);
  }
  const warmUpRounds = plan.warmUpRounds + (scenario.extraWarmUpRounds ?? 0);
  for (let round = -warmUpRounds; round < plan.rounds; round += 1) {
    for (const turn of inTurn(turnsOf(scenario, names), round + warmUpRounds)) {
      const reached = await playTurn(scenario, turn, teams.get(teamOf(turn[0]!))!);
      if (round >= 0) for (const name of turn) figures.add(scenario.name, name, reached(name));
    }
  }
}

/** The contestants, those that are measured together in one turn. */
function turnsOf({ together = [] }: Scenario, names: readonly ContestantName[]): ContestantName[][] {
  const alone = names.filter((name) => !together.includes(name)).map((name) => [name]);
  const shared = names.filter((name) => together.includes(name));
  return shared.length === 0 ? alone : [shared, ...alone];
}

/** One process at a time, so that each has the machine to itself. */
async function warm(scenario: Scenario, name: ContestantName, team: Team): Promise<void> {
  for (const [index, process] of team.near.slice(0, scenario.processes).entries()) {
    await process.ask(...wordsFor([name], scenario.alsoWarmedBy!(`/lock-warm-${name}-${index}`)));
  }
}

/** Each round begins with another one: who comes behind a long pause, or behind a busy JVM, is slower at first. */
function inTurn<T>(turns: readonly T[], round: number): T[] {
  return turns.map((_turn, index) => turns[(index + round) % turns.length]!);
}

/** @returns what each of those that shared the turn has reached in it */
async function playTurn(
  scenario: Scenario,
  turn: readonly ContestantName[],
  team: Team,
): Promise<(name: ContestantName) => Readonly<Record<string, number>>> {
  const processes = scenario.delayed ? team.far : team.near.slice(0, scenario.processes);
  const words = wordsFor(
    turn,
    scenario.command(`/lock-${scenario.name}-${turn[0]}`, scenario.durationMs * turn.length),
  );
  const answers = (await Promise.all(processes.map((process) => process.ask(...words)))).map(readAnswer);
  return (name) => scenario.figures(answers, scenario.durationMs, name);
}

function wordsFor(names: readonly ContestantName[], command: readonly (string | number)[]): string[] {
  const words = command.map(String);
  return teamOf(names[0]!) === 'ours' ? [names.join('+'), ...words] : words;
}

function reportScenario(stage: Stage, scenario: Scenario, { plan, figures, field, report }: Match): void {
  const medians = `medians of ${plan.rounds} interleaved rounds; ratios of pairs`;
  report.rows(`${stage.title}: ${scenario.title} (${medians})`, figures.rows(scenario.name));
  for (const name of scenario.contestants) {
    const remark = scenario.remarks?.[name];
    if (remark !== undefined && !field.leftOut.has(name)) report.remark(figures.title(scenario.name), name, remark);
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
