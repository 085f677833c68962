import { visible } from '../../../lock/visible.js';
import type { Call, Command } from '../command.js';
import { EXIT, STEP_EXIT_TEXTS } from '../exit-codes.js';
import { askingText, confirmed, STEP_FLAGS, whyOf, withDoctor } from '../step.js';
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

async function runDrain(call: Call): Promise<number> {
  const { operands, flags, terminal } = call;
  const key = operands[0]!;
  const why = whyOf(call);
  const graceMs = flags.span('grace') ?? GRACE_MS;
  const isMeant = await confirmed(call, 'End all these waits?', async (locks) => {
    return snapshotLines(await locks.inspect(key), terminal.width, MAX_SHOWN);
  });
  if (!isMeant) return EXIT.no;
  terminal.progress(`telling those that wait for ${visible(key)}...`);
  const result = await withDoctor(call, (doctor) => doctor.drain(key, { ...why, graceMs }));
  if (terminal.isJson) terminal.printJson(result);
  else terminal.print(`${visible(key)} is drained: ${countText(result.removed, 'wait')} ended`);
  return EXIT.done;
}
