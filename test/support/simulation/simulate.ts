import { parseArgs } from 'node:util';
import { describeVerdict } from './describe-verdict.js';
import { playDirected } from './directed.js';
import { runSeed, type Verdict } from './run-seed.js';

/**
 * `npm run simulate -- --seeds 100000 [--from N]`, or `--seed N --trace` for one of them. `--keep-going` does not stop at
 * the first failure; `--directed <name>` plays a scenario in so many variations; `--json` is for programs.
 */
const { values } = parseArgs({
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

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const from = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds) : 1;
const startedAt = performance.now();
const failed: Verdict[] = [];
let grants = 0;
let seedsRun = 0;
for (let seed = from; seed < from + count; seed += 1) {
  const trace = values.trace ? print : undefined;
  const verdict = await (values.directed === undefined
    ? runSeed(seed, trace)
    : playDirected(values.directed, seed, trace));
  grants += verdict.grants;
  seedsRun += 1;
  if (verdict.violations.length === 0) continue;
  failed.push(verdict);
  if (!values.json) print(describeVerdict(verdict, values.directed));
  if (!values['keep-going']) break;
}
if (values.json) {
  print(
    JSON.stringify({ seedsRun, grants, failed: failed[0]?.seed.toString(), violations: failed[0]?.violations ?? [] }),
  );
} else {
  const seconds = (performance.now() - startedAt) / 1000;
  const speed = `${seconds.toFixed(1)} s, ${(seedsRun / seconds).toFixed(0)} seeds/s`;
  print(`${seedsRun} seeds, ${grants} holds, ${failed.length} failed, ${speed}`);
}
process.exitCode = failed.length > 0 ? 1 : 0;
