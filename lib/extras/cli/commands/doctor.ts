import { visible } from '../../../lock/visible.js';
import type { CostlyKey, Finding, FindingSeverity, LockExamination } from '../../doctor/lock-examination.js';
import type { Call, Command } from '../command.js';
import { connectionWords } from '../connection.js';
import { whoText } from '../contenders.js';
import { EXIT, EXIT_TEXTS } from '../exit-codes.js';
import { scanOptions } from '../scanning.js';
import { withDoctor } from '../step.js';
import type { Style, Terminal } from '../terminal.js';
import { countText, cutMiddle, spanText, wrapped } from '../words.js';

const STYLES: Readonly<Record<FindingSeverity, Style>> = { critical: 'red', warning: 'yellow', notice: 'dim' };
const INDENT = '    ';
const MAX_COUNT = 999_999_999;
const MAX_COSTLY = 5;

export const doctor: Command = {
  name: 'doctor',
  group: 'Look',
  operands: '[PREFIX]',
  operandCount: [0, 1],
  summary: 'what is wrong, the worst first, and what to do',
  about: [
    'Reads all locks (with PREFIX those below it), and says what is wrong, the worst first: deadlocks, closed keys, long holds, long ' +
      'queues, nodes that nobody removes.',
    'Behind that are the keys that cost the most waiting, each with the command that breaks its lock.',
  ],
  flags: [
    { name: 'long-hold', value: 'TIME', text: 'a holder that asked longer ago than this is a finding (5m)' },
    { name: 'long-queue', value: 'N', text: 'a queue of more than this is a finding (100)' },
  ],
  exitTexts: [
    ['0', 'nothing was found, or only notices'],
    ['1', 'something critical, or a warning'],
    ...EXIT_TEXTS.slice(2),
  ],
  run: runDoctor,
};

async function runDoctor(call: Call): Promise<number> {
  const { terminal, flags, connection } = call;
  const longHoldMs = flags.span('long-hold');
  const longQueue = flags.count('long-queue', MAX_COUNT);
  const options = {
    ...scanOptions(call),
    lineOptions: connectionWords(flags, connection),
    ...(longHoldMs === undefined ? {} : { longHoldMs }),
    ...(longQueue === undefined ? {} : { longQueue }),
  };
  const found = await withDoctor(call, (one) => one.examine(options));
  if (terminal.isJson) terminal.printJson(found);
  else terminal.print(...examinationLines(found, terminal));
  return found.findings.some(({ severity }) => severity !== 'notice') ? EXIT.no : EXIT.done;
}

function examinationLines({ locks, findings, costliest }: LockExamination, terminal: Terminal): string[] {
  const most = costliest.slice(0, MAX_COSTLY);
  return [
    ...(findings.length === 0
      ? [`Nothing was found. ${countText(locks, 'lock was', 'locks were')} examined.`]
      : findings.flatMap((one, index) => [...(index === 0 ? [] : ['']), ...findingLines(one, terminal)])),
    ...(most.length === 0 ? [] : ['', 'Waited for most']),
    ...most.flatMap((one) => costlyLines(one, terminal.width)),
  ];
}

function findingLines({ kind, severity, key, text, advice }: Finding, terminal: Terminal): string[] {
  const head = `${severity}  ${kind}`;
  const where = key === undefined ? '' : `  ${cutMiddle(visible(key), terminal.width - head.length - 2)}`;
  return [
    `${terminal.paint(STYLES[severity], severity)}${head.slice(severity.length)}${where}`,
    ...indented(visible(text), terminal.width),
    ...adviceLines(`-> ${visible(advice)}`, terminal.width),
  ];
}

/** A command is there to be pasted, so it has a line of its own, neither cut nor wrapped. */
const COMMAND =
  /(npx -p nestjs-zookeeper-lock (?:-p kerberos )?zk-lock (?:'(?:[^']|'\\'')*'|[^'])*? --reason '(?:[^']|'\\'')*')(?:\. )?/;

function adviceLines(advice: string, width: number): string[] {
  const parts = advice.split(COMMAND).filter((part) => part !== '');
  return parts.flatMap((part) => (COMMAND.test(part) ? [INDENT + part] : indented(part.trimEnd(), width)));
}

function costlyLines({ key, waiting, waitedMs, blocker, breakLine }: CostlyKey, width: number): string[] {
  const holder = blocker === undefined ? '' : `; held by ${whoText(blocker)}`;
  const waits = `${countText(waiting, 'waits', 'wait')}, ${spanText(waitedMs)} taken together${holder}`;
  return [
    `  ${visible(key)}`,
    ...indented(waits, width),
    ...(breakLine === undefined ? [] : [INDENT + visible(breakLine)]),
  ];
}

function indented(text: string, width: number): string[] {
  return wrapped(text, width - INDENT.length).map((line) => INDENT + line);
}
