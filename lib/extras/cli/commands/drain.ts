import { visible } from '../../../lock/visible.js';
import type { Call, Command } from '../command.js';
import { STEP_EXIT_TEXTS } from '../exit-codes.js';
import { askingText, STEP_FLAGS, stepIn, whyOf } from '../step.js';
import { countText } from '../words.js';
import { snapshotLines } from './show.js';

const GRACE_MS = 5_000;
const MAX_SHOWN = 5;

export const drain: Command = {
  name: 'drain',
  group: 'Step in',
  operands: 'KEY',
  operandCount: [1, 1],
  summary: 'end all waits for a lock',
  about: [
    'Ends all waits for the lock: those calls fail with LOCK_DRAINED. Whoever holds it goes on, and whoever asks afterwards queues as usual.',
    askingText('the queue'),
  ],
  flags: [
    ...STEP_FLAGS,
    { name: 'grace', value: 'TIME', text: 'how long it goes on telling waiters whose link is down (5s)' },
  ],
  exitTexts: STEP_EXIT_TEXTS,
  run: runDrain,
};

function runDrain(call: Call): Promise<number> {
  const { operands, flags, terminal } = call;
  const key = operands[0]!;
  const why = whyOf(call);
  const graceMs = flags.span('grace') ?? GRACE_MS;
  return stepIn(call, {
    question: 'End all these waits?',
    shown: async (locks) => snapshotLines(await locks.inspect(key), terminal.width, MAX_SHOWN),
    meanwhile: `telling those that wait for ${visible(key)}...`,
    carryOut: (doctor) => doctor.drain(key, { ...why, graceMs }),
    outcome: ({ removed }) => `${visible(key)} is drained: ${countText(removed, 'wait')} ended`,
  });
}
