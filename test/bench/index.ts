import { readCommandLine, refuse } from '../support/command-line/command-line.js';
import { benchLocks } from './lock-bench.js';
import { Report } from './report.js';
import { benchSessions } from './session-bench.js';

const BENCHMARKS = { session: benchSessions, lock: benchLocks };
type Name = keyof typeof BENCHMARKS;

const NAMES = Object.keys(BENCHMARKS) as Name[];
const USAGE = `npm run bench -- [${NAMES.join('|')}] [--json]
  Without a name all of them; --json prints one JSON object a line.`;

const { values, positionals } = readCommandLine(USAGE, {
  options: { json: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const unknown = positionals.find((name) => !NAMES.some((known) => known === name));
if (unknown !== undefined) refuse(`There is no benchmark '${unknown}'. There are: ${NAMES.join(', ')}`);

const report = new Report(values.json);
for (const name of positionals.length > 0 ? (positionals as Name[]) : NAMES) await BENCHMARKS[name](report);
