import { visible } from '../../../lock/visible.js';
import { checkEnsemble } from '../../doctor/check-ensemble.js';
import type { CheckItem, CheckOutcome } from '../../doctor/ensemble-check.js';
import type { Call, Command } from '../command.js';
import { EXIT, EXIT_TEXTS } from '../exit-codes.js';
import type { Style, Terminal } from '../terminal.js';
import { wrapped } from '../words.js';

const STYLES: Readonly<Record<CheckOutcome, Style>> = { ok: 'green', warning: 'yellow', failed: 'red' };
const NAME_WIDTH = 18;
const OUTCOME_WIDTH = 9;

export const check: Command = {
  name: 'check',
  group: 'Look',
  operands: '[PREFIX]',
  operandCount: [0, 1],
  summary: 'whether locks will work here, for pipelines',
  about: [
    'Connects as the application would, and acquires a lock below PREFIX with these access rights. It looks at each server and its ' +
      'version, at TLS, at the session time-out that is granted and at the ticks. It measures how long a write takes, and how late ' +
      'timers are.',
    'It takes two seconds, and leaves nothing behind.',
    'With the exit code 0 an application that has the same options can start.',
  ],
  flags: [
    { name: 'strict', text: 'a warning fails the check, too' },
    {
      name: 'max-commit',
      value: 'TIME',
      text: 'the longest that 99 of 100 writes may take (a quarter of the session time-out)',
    },
  ],
  exitTexts: [
    ['0', 'all is well, or there are only warnings'],
    ['1', 'something failed; with --strict also: there is a warning'],
    ...EXIT_TEXTS.slice(2),
  ],
  run: runCheck,
};

async function runCheck({ operands, flags, connection, terminal }: Call): Promise<number> {
  const maxCommitMs = flags.span('max-commit');
  const [prefix] = operands;
  terminal.progress('checking...');
  const result = await checkEnsemble({
    ...connection,
    ...(prefix === undefined ? {} : { prefix }),
    ...(maxCommitMs === undefined ? {} : { maxCommitMs }),
  });
  if (terminal.isJson) terminal.printJson(result);
  else for (const item of result.items) terminal.print(...itemLines(item, terminal));
  const isBad = result.outcome === 'failed' || (result.outcome === 'warning' && flags.isSet('strict'));
  return isBad ? EXIT.no : EXIT.done;
}

function itemLines({ name, outcome, text, advice }: CheckItem, terminal: Terminal): string[] {
  const indent = ' '.repeat(OUTCOME_WIDTH + NAME_WIDTH);
  const width = terminal.width - indent.length;
  const [first = '', ...more] = [
    ...wrapped(visible(text), width),
    ...(advice === undefined ? [] : wrapped(`-> ${visible(advice)}`, width)),
  ];
  const head = terminal.paint(STYLES[outcome], outcome.padEnd(OUTCOME_WIDTH)) + name.padEnd(NAME_WIDTH);
  return [head + first, ...more.map((line) => indent + line)];
}
