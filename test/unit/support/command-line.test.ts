import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { TYPESCRIPT_FLAGS } from '../../support/typescript/flags.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const SCRIPTS = { simulate: 'test/support/simulation/simulate.ts', bench: 'test/bench/index.ts' };

async function run(script: keyof typeof SCRIPTS, ...args: string[]): Promise<unknown> {
  const child = spawn(process.execPath, [...TYPESCRIPT_FLAGS, SCRIPTS[script], ...args], { cwd: ROOT });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { output, errors, code };
}

/** One line, and nothing done. */
function refusal(pattern: RegExp): unknown {
  return {
    output: '',
    errors: expect.stringMatching(new RegExp(`^${pattern.source}.* \\(--help says what there is\\)\n$`)),
    code: 2,
  };
}

describe('the command line', () => {
  it.each<[string, RegExp]>([
    ['--seed abc', /--seed takes a whole number from 1 on, not 'abc'/],
    ['--seeds=-5', /--seeds takes a whole number from 1 on, not '-5'/],
    ['--sed 1', /Unknown option '--sed'/],
  ])('refuses for simulate %s in a line', async (args, pattern) => {
    expect(await run('simulate', ...args.split(' '))).toEqual(refusal(pattern));
  });

  it('does for simulate what is right', async () => {
    expect(await run('simulate', '--seeds', '2', '--from', '7')).toEqual({
      output: expect.stringMatching(/^2 seeds, \d+ holds, 0 failed/),
      errors: '',
      code: 0,
    });
  });

  it('knows for bench no benchmark but those there are', async () => {
    const [wrong, help] = await Promise.all([run('bench', 'nosuch'), run('bench', '--help')]);
    expect(wrong).toEqual(refusal(/There is no benchmark 'nosuch'. There are: session, lock/));
    expect(help).toMatchObject({ output: expect.stringContaining('[session|lock|observed]'), code: 0 });
  });

  it.each<[string, RegExp]>([
    ['lock --stage four', /There is no stage 'four'. There are: one, one-pool, three-leader, three-follower/],
    ['lock --stage three --scenario delayed', /There is no scenario 'delayed'. There are: 200-keys, uncontended, /],
    ['lock --rounds 0', /--rounds takes a whole number from 1 on, not '0'/],
    ['session --rounds 2', /--stage, --scenario and --rounds are for 'lock' alone/],
  ])('refuses for bench %s in a line', async (args, pattern) => {
    expect(await run('bench', ...args.split(' '))).toEqual(refusal(pattern));
  });
});
