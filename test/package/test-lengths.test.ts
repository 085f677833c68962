import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');
const WITHIN_MS = 120_000;

/** All test files but those of containers, which have a script of their own. */
const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !name.startsWith('testcontainers'))
  .map((name) => `test/${name}`)
  .sort();
const [long, full] = ['long', 'full'].map((length) => files.filter((name) => name.endsWith(`.${length}.test.ts`)));

/** Where each promise is tested on a real server; what leaves the process has nothing to do with servers. */
const PROMISES: Readonly<Record<string, string>> = {
  'one holder': 'integration/promises/one-holder',
  'loss is told first': 'integration/promises/loss-is-told-first',
  'no resurrection': 'integration/promises/no-resurrection',
  tokens: 'integration/promises/tokens-rise',
  FIFO: 'integration/promises/fifo-and-no-herd',
  'no litter': 'integration/promises/no-litter',
  'nothing piles up': 'integration/promises/crowd-of-waiters',
  'every promise settles': 'integration/promises/every-promise-settles',
  'quiet outside': 'e2e/nest/quiet-answers',
  'honest errors': 'integration/promises/honest-errors',
  isolation: 'integration/promises/isolation',
  neighbours: 'interop/curator',
  never: 'integration/promises/never',
};

/** The commands that a script hands to the test runner: what stands behind `suite <name>`, which may run beside others. */
function suites(script: string): string[] {
  const lines = readFileSync(join(ROOT, script), 'utf8').matchAll(/^(?:beside \S+ )?suite \S+ (.*npm.*)$/gm);
  return [...lines].map(([, command]) => command!);
}

/** The test files that a command runs. */
async function filesOf(command: string): Promise<string[]> {
  const { stdout } = await run('bash', ['-c', `unset TEST_LENGTHS; ${command} --listTests`], { cwd: ROOT });
  const paths = stdout.split('\n').filter((line) => line.endsWith('.test.ts'));
  return paths.map((path) => relative(ROOT, path));
}

describe('Test files', () => {
  it(
    'are run by .ci/run and not by npm test if called long, by neither if called full, each other one by npm test',
    async () => {
      const commands = suites('.ci/run');
      expect(commands).toContain('npm test --silent --');
      const lists = await Promise.all(commands.map(filesOf));
      const inTest = lists[commands.indexOf('npm test --silent --')]!;
      expect(long!.length).toBeGreaterThan(0);
      expect(inTest.sort()).toEqual(files.filter((name) => !long!.includes(name) && !full!.includes(name)));
      expect(lists.flat().sort()).toEqual(files.filter((name) => !full!.includes(name)));
    },
    WITHIN_MS,
  );

  it(
    'are all run by scripts/test-full',
    async () => {
      const lists = await Promise.all(suites('scripts/test-full').map(filesOf));
      expect(lists.flat().sort()).toEqual(files);
    },
    WITHIN_MS,
  );

  it.each(Object.entries(PROMISES))('show the promise in npm test: %s', (_promise, file) => {
    expect(files).toContain(`test/${file}.test.ts`);
  });

  it('are there if their durations are recorded', () => {
    const recorded = JSON.parse(readFileSync(join(ROOT, 'test/support/progress/durations.json'), 'utf8')) as object;
    expect(Object.keys(recorded).filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
  });
});
