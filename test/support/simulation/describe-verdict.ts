import type { Verdict } from './run-seed.js';

/** What a failed schedule says to people: what was broken, and how to see it again. */
export function describeVerdict({ seed, scenario, violations }: Verdict, directed?: string): string {
  const found = violations.map(({ promise, atMs, text }) => `  ${promise} (at ${atMs.toFixed(1)} ms): ${text}`);
  const option = directed === undefined ? '' : `--directed '${directed}' `;
  return [
    `seed ${seed} (${scenario.profile}, ${scenario.servers} servers):`,
    ...found,
    `  again: npm run simulate -- ${option}--seed ${seed} --trace`,
  ].join('\n');
}
