import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { TYPESCRIPT_FLAGS } from '../../../support/typescript/flags.js';

const run = promisify(execFile);

it('an ensemble in memory keeps a process alive while a call waits for it, and no longer', async () => {
  const script = 'test/unit/session/simulator/lonely-script.ts';

  // It has an exit code of its own (13) where it ends while something at its top level is awaited.
  const { stdout } = await run(process.execPath, [...TYPESCRIPT_FLAGS, script], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  expect(stdout).toBe('LOCK_TIMEOUT\nclosed, and lost\n');
}, 60_000);
