import { positiveInteger, readCommandLine, refuse } from '../support/command-line/command-line.js';
import { benchLocks } from './lock-bench.js';
import { type LockPlan, lockSeconds, planLocks, type Selection } from './lock-plan.js';
import { benchObserved, OBSERVED_SECONDS } from './observed-bench.js';
import { Report } from './report.js';
import { benchSessions, SESSION_SECONDS } from './session-bench.js';
import { durationText } from './statistics.js';

const USAGE = `npm run bench -- [session|lock|observed] [--json]
npm run bench -- lock [--stage one|one-pool|three-leader|three-follower] [--scenario name] [--rounds n] [--json]
  Without a name all of them; --json prints one JSON object a line.
  --stage and --scenario play some alone (the beginning of a name is enough), --rounds so many rounds instead of 7.`;

const { values, positionals } = readCommandLine(USAGE, {
  options: {
    json: { type: 'boolean', default: false },
    stage: { type: 'string' },
    scenario: { type: 'string' },
    rounds: { type: 'string' },
  },
  allowPositionals: true,
});
const { stage, scenario, rounds } = values;
const locks = plan({ stage, scenario, rounds: rounds === undefined ? undefined : positiveInteger('--rounds', rounds) });

const BENCHMARKS = {
  session: { seconds: SESSION_SECONDS, run: benchSessions },
  lock: { seconds: lockSeconds(locks), run: (to: Report) => benchLocks(to, locks) },
  observed: { seconds: OBSERVED_SECONDS, run: benchObserved },
};
type Name = keyof typeof BENCHMARKS;
const NAMES = Object.keys(BENCHMARKS) as Name[];

const unknown = positionals.find((name) => !NAMES.some((known) => known === name));
if (unknown !== undefined) refuse(`There is no benchmark '${unknown}'. There are: ${NAMES.join(', ')}`);
const names = positionals.length > 0 ? (positionals as Name[]) : NAMES;
if ((stage ?? scenario ?? rounds) !== undefined && names.join() !== 'lock')
  refuse(`--stage, --scenario and --rounds are for 'lock' alone: npm run bench -- lock ...`);

const total = names.reduce((sum, name) => sum + BENCHMARKS[name].seconds, 0);
process.stderr.write(`This takes about ${durationText(total)} on a machine that does nothing else.\n`);
const report = new Report(values.json);
for (const name of names) await BENCHMARKS[name].run(report);

function plan(selection: Selection): LockPlan {
  try {
    return planLocks(selection);
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}
