import { visible } from '../../../lock/visible.js';
import type { LockHistory } from '../../doctor/lock-history.js';
import type { Call, Command } from '../command.js';
import { nameText } from '../contenders.js';
import { EXIT, LOOK_EXIT_TEXTS } from '../exit-codes.js';
import { withDoctor } from '../step.js';
import { tableLines } from '../table.js';
import { countText, momentText, spanText } from '../words.js';

const COLUMNS = [
  { title: 'SINCE' },
  { title: 'HELD', align: 'right' },
  { title: 'WAITED', align: 'right' },
  { title: 'ENDED' },
  { title: 'TOKEN', align: 'right' },
  { title: 'WHO', cut: 'end' },
] as const;

export const history: Command = {
  name: 'history',
  group: 'Look',
  operands: 'KEY',
  operandCount: [1, 1],
  summary: 'the last holds of a lock',
  about: [
    'Shows who held the lock, the last one first. It is there where the application keeps it, by its option history.',
  ],
  flags: [],
  exitTexts: LOOK_EXIT_TEXTS,
  run: runHistory,
};

async function runHistory(call: Call): Promise<number> {
  const { terminal } = call;
  const key = call.operands[0]!;
  const found = await withDoctor(call, (doctor) => doctor.history(key));
  const { holds, dropped } = found;
  if (terminal.isJson) {
    terminal.printJson(found);
    return EXIT.done;
  }
  if (holds.length > 0) terminal.print(...tableLines(COLUMNS, holds.map(cells), terminal.width));
  else if (dropped === 0)
    terminal.tell(`nothing is kept of ${visible(key)}: the option history is off, or nobody has held it since`);
  if (dropped > 0) {
    const what = countText(dropped, 'hold', 'holds');
    terminal.tell(`${what} of ${visible(key)}, or of keys that are kept beside it, could not be written down in time`);
  }
  return EXIT.done;
}

function cells(hold: LockHistory['holds'][number]): string[] {
  const { since, heldMs, waitedMs, ended, token } = hold;
  return [momentText(since), spanText(heldMs), spanText(waitedMs), ended, `${token}`, nameText(hold) ?? 'unknown'];
}
