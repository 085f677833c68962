import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { root } from './pack.js';

export interface RunOfJest {
  /** Undefined where it had to be killed, as it said that it did not exit. */
  readonly code: number | undefined;
  readonly output: string;
}

const DID_NOT_EXIT = 'did not exit';

/** A command that runs Jest: with its exit code, as soon as it has ended, or has said that it does not. */
export async function runUntilItExits(command: string, args: readonly string[], cwd: string): Promise<RunOfJest> {
  const env = { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'test', JEST_WORKER_ID: '' };
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let isStuck = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += stripVTControlCharacters(text);
      if (!output.includes(DID_NOT_EXIT)) return;
      isStuck = true;
      child.kill('SIGKILL');
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code: isStuck ? undefined : (code ?? undefined), output };
}

/** Runs one spec of `test/package/fixtures` in a Jest of its own, with this repository's settings and those given. */
export async function runFixture(name: string, settings: object = {}): Promise<RunOfJest> {
  const folder = mkdtempSync(join(tmpdir(), 'jest-'));
  try {
    const { default: jest } = (await import(join(root, 'jest.config.js'))) as { default: { projects: object[] } };
    const config = { ...jest.projects[0], rootDir: root, roots: [`${root}/test/package/fixtures`], ...settings };
    const path = join(folder, 'jest.config.json');
    writeFileSync(path, JSON.stringify({ ...config, displayName: undefined, testMatch: [`**/${name}.spec.ts`] }));
    const bin = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
    const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
    return await runUntilItExits(process.execPath, [...flags, bin, '--config', path], root);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
