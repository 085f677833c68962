import { execFileSync } from 'node:child_process';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { Call } from '../../../../lib/extras/cli/command.js';
import { Flags } from '../../../../lib/extras/cli/flags.js';
import { runUnder } from '../../../../lib/extras/cli/run/run-under.js';
import { SignalRelay } from '../../../../lib/extras/cli/run/signal-relay.js';
import type { LockHandle } from '../../../../lib/index.js';

const tell = jest.fn<(text: string) => void>();

async function codeOf(childCommand: readonly string[], isHeld = true): Promise<number> {
  const lock = {
    key: '/a',
    fencingToken: 5n,
    nodePath: '/a/n',
    signal: new AbortController().signal,
    isHeld: () => isHeld,
  } as unknown as LockHandle;
  const call = { childCommand, flags: new Flags({}), terminal: { tell } } as unknown as Call;
  const signals = new SignalRelay();
  try {
    return await runUnder(lock, call, signals);
  } finally {
    signals.stop();
  }
}

/** What bash and sh end with, where they are to run it. */
function codesOfShells(script: string): (number | null)[] {
  return ['bash', 'sh'].map((shell) => {
    try {
      execFileSync(shell, ['-c', script], { stdio: 'ignore' });
      return 0;
    } catch (error) {
      return (error as { readonly status: number | null }).status;
    }
  });
}

describe('A command under a lock', () => {
  afterEach(() => void tell.mockReset());

  it.each([
    ['is over by the clock, though no timer has told of it yet', false, 121],
    ['is held to the end', true, 0],
  ])('ends where its lock %s', async (_what, isHeld, expected) => {
    expect(await codeOf(['true'], isHeld)).toBe(expected);
  });

  it.each<[string, number, string, readonly string[], string]>([
    [
      'its arguments are too long',
      126,
      'its arguments, or they and its environment, are longer than this system allows',
      ['true', 'x'.repeat(200_000)],
      `/bin/true "$(head -c 200000 /dev/zero | tr '\\0' x)"`,
    ],
    ['its name is empty', 127, 'there is no such program', [''], '""'],
    ['there is none', 127, 'there is no such program', ['no-such-program'], 'no-such-program'],
    ['it is not executable', 126, 'it is not executable', ['/etc/passwd'], '/etc/passwd'],
  ])(
    'ends as in a shell where it cannot be started, because %s, and says why',
    async (_why, code, text, words, script) => {
      expect(await codeOf(words)).toBe(code);
      expect(codesOfShells(script)).toEqual([code, code]);
      expect(tell.mock.calls.map(([told]) => told)).toEqual([expect.stringContaining(text)]);
    },
  );
});
