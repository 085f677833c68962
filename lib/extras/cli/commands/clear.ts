import { visible } from '../../../lock/visible.js';
import type { Call, Command } from '../command.js';
import { abandonedLines, nameText } from '../contenders.js';
import { STEP_EXIT_TEXTS } from '../exit-codes.js';
import { askingText, notFound, STEP_FLAGS, stepIn, whyOf } from '../step.js';

export const clear: Command = {
  name: 'clear',
  group: 'Step in',
  operands: 'KEY',
  operandCount: [1, 1],
  summary: 'open a key that a vanished holder left closed',
  about: [
    "Opens a key that is closed because a holder vanished inside (onAbandoned: 'hold'). Repair first what it left: the next one enters as " +
      'after an orderly release.',
    'If the token is that of another holder, or somebody is inside, nothing is done.',
    askingText('what is known of that holder'),
  ],
  flags: [{ name: 'token', value: 'TOKEN', text: 'the fencing token of the holder that vanished' }, ...STEP_FLAGS],
  exitTexts: STEP_EXIT_TEXTS,
  run: runClear,
};

function runClear(call: Call): Promise<number> {
  const { operands, flags } = call;
  const key = operands[0]!;
  const token = flags.token();
  const why = whyOf(call);
  return stepIn(call, {
    question: 'Is what it left repaired, and may the key be opened?',
    shown: async (locks) => {
      const { abandoned } = await locks.inspect(key);
      if (abandoned === undefined) throw notFound(key, 'no holder that vanished is known');
      return [`This would forget who vanished inside ${visible(key)}`, ...abandonedLines(abandoned)];
    },
    carryOut: (doctor) => doctor.clear(key, { token, ...why }),
    outcome: ({ abandoned }) => `${visible(key)} is open: ${nameText(abandoned) ?? 'its holder'} is forgotten`,
  });
}
