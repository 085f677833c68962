import { visible } from '../../../lock/visible.js';
import type { LockRow } from '../../doctor/lock-scan.js';
import type { Call, Command } from '../command.js';
import { nameText, whoText } from '../contenders.js';
import { EXIT, LOOK_EXIT_TEXTS } from '../exit-codes.js';
import { scanOptions } from '../scanning.js';
import { withDoctor } from '../step.js';
import { tableLines } from '../table.js';
import { countText, spanText } from '../words.js';

const COLUMNS = [
  { title: 'KEY', cut: 'middle' },
  { title: 'STATE' },
  { title: 'ASKED', align: 'right' },
  { title: 'WAITING', align: 'right' },
  { title: 'LONGEST', align: 'right' },
  { title: 'HOLDER', cut: 'end' },
] as const;

export const ls: Command = {
  name: 'ls',
  group: 'Look',
  operands: '[PREFIX]',
  operandCount: [0, 1],
  summary: 'all locks that are held or waited for',
  about: [
    'Lists the locks that somebody holds or waits for, and those that a holder which vanished has left closed. With PREFIX it lists those ' +
      'below it.',
    'ASKED is when the first of the holders asked: it has held since then, or waited first. WAITING is how many wait, and LONGEST how ' +
      'long the first of them has waited.',
    'At a terminal, keys that do not fit are cut in their middle. In a pipe, and with --json, they are whole.',
  ],
  flags: [],
  exitTexts: LOOK_EXIT_TEXTS,
  run: runLs,
};

async function runLs(call: Call): Promise<number> {
  const { terminal } = call;
  const scan = await withDoctor(call, (doctor) => doctor.scan(scanOptions(call)));
  if (terminal.isJson) terminal.printJson(scan);
  else if (scan.locks.length > 0) terminal.print(...tableLines(COLUMNS, scan.locks.map(cells), terminal.width));
  else terminal.tell(`nobody holds a lock, or waits for one, below ${visible(call.operands[0] ?? '/')}`);
  if (scan.unreadable > 0) {
    const nodes = countText(scan.unreadable, 'node');
    terminal.tell(`${nodes} may not be read with these credentials: what is below is left out`, {
      unreadable: scan.unreadable,
    });
  }
  return EXIT.done;
}

function cells(row: LockRow): string[] {
  const { key, state, holderAgeMs, waiting, longestWaitMs } = row;
  return [
    visible(key),
    state,
    holderAgeMs === undefined ? '-' : `${spanText(holderAgeMs)} ago`,
    `${waiting}`,
    longestWaitMs === undefined ? '-' : spanText(longestWaitMs),
    holderText(row),
  ];
}

function holderText({ holders, abandoned }: LockRow): string {
  const [holder] = holders;
  if (holder !== undefined)
    return holders.length === 1 ? whoText(holder) : `${whoText(holder)} and ${holders.length - 1} more`;
  return abandoned === undefined ? '-' : `vanished: ${nameText(abandoned) ?? 'somebody unknown'}`;
}
