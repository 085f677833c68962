import { parseArgs } from 'node:util';
import { benchLocks } from './lock-bench.js';
import { Report } from './report.js';
import { benchSessions } from './session-bench.js';

const BENCHMARKS = { session: benchSessions, lock: benchLocks };

const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const report = new Report(values.json);
const names = positionals.length > 0 ? positionals : Object.keys(BENCHMARKS);
for (const name of names) {
  if (!(name in BENCHMARKS))
    throw new Error(`There is no benchmark ${name}. There are: ${Object.keys(BENCHMARKS).join(', ')}`);
  await BENCHMARKS[name as keyof typeof BENCHMARKS](report);
}
