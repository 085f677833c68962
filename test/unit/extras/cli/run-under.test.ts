import { describe, expect, it } from '@jest/globals';
import type { Call } from '../../../../lib/extras/cli/command.js';
import { Flags } from '../../../../lib/extras/cli/flags.js';
import { runUnder } from '../../../../lib/extras/cli/run/run-under.js';
import { SignalRelay } from '../../../../lib/extras/cli/run/signal-relay.js';
import type { LockHandle } from '../../../../lib/index.js';

describe('A command under a lock', () => {
  it.each([
    ['is over by the clock, though no timer has told of it yet', false, 121],
    ['is held to the end', true, 0],
  ])('whose lock %s', async (_what, isHeld, expected) => {
    const lock = {
      key: '/a',
      fencingToken: 5n,
      nodePath: '/a/n',
      signal: new AbortController().signal,
      isHeld: () => isHeld,
    } as unknown as LockHandle;
    const call = { childCommand: ['true'], flags: new Flags({}) } as unknown as Call;
    const signals = new SignalRelay();
    try {
      expect(await runUnder(lock, call, signals)).toBe(expected);
    } finally {
      signals.stop();
    }
  });
});
