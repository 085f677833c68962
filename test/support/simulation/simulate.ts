import { positiveInteger, readCommandLine, refuse } from '../command-line/command-line.js';
import { describeVerdict } from './describe-verdict.js';
import { DIRECTED, playDirected } from './directed.js';
import { RARE_STATES, type RareState } from './rare-states.js';
import { runSeed, type Verdict } from './run-seed.js';

const USAGE = `npm run simulate -- [options]
  --seeds N          how many seeds to play, 1000 by default
  --from N           the first of them, 1 by default
  --seed N           this one alone
  --keep-going       do not stop at the first failure
  --trace            print what happens, line by line
  --directed NAME    a scenario in so many variations, not chance: ${Object.keys(DIRECTED).join(', ')}
  --json             the result for programs`;

const { values } = readCommandLine(USAGE, {
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    directed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    'keep-going': { type: 'boolean', default: false },
  },
});

const firstSeed = positiveInteger('--from', values.from);
const seeds = positiveInteger('--seeds', values.seeds);
const onlySeed = values.seed === undefined ? undefined : positiveInteger('--seed', values.seed);
if (values.directed !== undefined && !(values.directed in DIRECTED))
  refuse(`There is no scenario '${values.directed}'. There are: ${Object.keys(DIRECTED).join(', ')}`);

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const from = onlySeed ?? firstSeed;
const count = onlySeed === undefined ? seeds : 1;
const startedAt = performance.now();
const failed: Verdict[] = [];
/** In how many schedules each rare state was. */
const reached = Object.fromEntries(RARE_STATES.map((state) => [state, 0])) as Record<RareState, number>;
let grants = 0;
let seedsRun = 0;
for (let seed = from; seed < from + count; seed += 1) {
  const trace = values.trace ? print : undefined;
  const verdict = await (values.directed === undefined
    ? runSeed(seed, trace)
    : playDirected(values.directed, seed, trace));
  grants += verdict.grants;
  for (const state of verdict.reached) reached[state] += 1;
  seedsRun += 1;
  if (verdict.violations.length === 0) continue;
  failed.push(verdict);
  if (!values.json) print(describeVerdict(verdict, values.directed));
  if (!values['keep-going']) break;
}
if (values.json) {
  print(
    JSON.stringify({
      seedsRun,
      grants,
      failed: failed[0]?.seed.toString(),
      violations: failed[0]?.violations ?? [],
      reached,
    }),
  );
} else {
  const seconds = (performance.now() - startedAt) / 1000;
  const speed = `${seconds.toFixed(1)} s, ${(seedsRun / seconds).toFixed(0)} seeds/s`;
  print(`${seedsRun} seeds, ${grants} holds, ${failed.length} failed, ${speed}`);
  const seldom = RARE_STATES.map((state) => `${state} (${reached[state]})`);
  if (values.directed === undefined && count > 1) print(`in so many of them: ${seldom.join('; ')}`);
}
process.exitCode = failed.length > 0 ? 1 : 0;
