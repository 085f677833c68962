import { spawn } from 'node:child_process';
import type { Violation } from '../judge.js';
import type { RareState } from '../rare-states.js';
import { MutatedTree } from './mutated-tree.js';
import type { Edit } from './mutant.js';

/** What a child process found with its engine. */
export interface Findings {
  /** The first seed, or the name of the directed scenario, that shows something; undefined: none does. */
  readonly failed: string | undefined;
  readonly seedsRun: number;
  readonly grants: number;
  readonly violations: readonly Violation[];
  /** In how many schedules each rare state was. */
  readonly reached: Readonly<Record<RareState, number>>;
}

/** Runs schedules with an engine that has these mistakes, in a process of its own, up to the first that shows one. */
export async function runMutant(edits: readonly Edit[], ...options: readonly string[]): Promise<Findings> {
  using tree = new MutatedTree(edits);
  const child = spawn(process.execPath, [tree.entry, '--json', ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // The one of the test file, which may have chosen the client.
    env: process.env,
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  await new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve());
  });
  try {
    return JSON.parse(output) as Findings;
  } catch (error) {
    throw new Error(`The simulation ended without a result: ${errors || output}`, { cause: error });
  }
}
