import { execFile } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { TYPESCRIPT_FLAGS } from '../../support/typescript/flags.js';

interface Run {
  readonly code: number;
  readonly output: string;
}

function start(what: string, environment: 'production' | 'development'): Promise<Run> {
  const env = { ...process.env, NODE_OPTIONS: '', NODE_ENV: environment };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [...TYPESCRIPT_FLAGS, 'test/e2e/nest/start-in-memory-script.ts', what],
      { env },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
}

const WARNING = /WARN .*Connection 'default': connect is 'memory:'.* nobody else is excluded/;

describe('An application with locks in memory', () => {
  it('does not start where NODE_ENV is production, and says what to set', async () => {
    const { code, output } = await start('module', 'production');

    expect(output).toMatch(
      /ERROR .*DistributedLockModule 'default': connect: "memory:" is refused where NODE_ENV is 'production'/,
    );
    expect(output).toContain('memory: { allowInProduction: true }');
    expect(output).not.toContain('ran');
    expect(code).not.toBe(0);
  }, 60_000);

  it.each([
    ['module', 'development'],
    ['allowed', 'production'],
  ] as const)(
    '(%s, in %s) runs, with a warning that nobody else is excluded',
    async (what, environment) => {
      const { code, output } = await start(what, environment);

      expect(output).toMatch(WARNING);
      expect(output).toContain('ran');
      expect(code).toBe(0);
    },
    60_000,
  );

  it.each(['testing', 'local'])(
    '(%s) is not meant',
    async (what) => {
      const { code, output } = await start(what, 'production');

      expect(output).not.toMatch(WARNING);
      expect(output).toContain('ran');
      expect(code).toBe(0);
    },
    60_000,
  );
});
