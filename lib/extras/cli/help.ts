import type { Command, Flag } from './command.js';
import { COMMON_FLAGS } from './command-line.js';
import { CONNECTION_FLAGS } from './connection.js';
import { EXIT_TEXTS } from './exit-codes.js';
import { wrapped } from './words.js';

/** Terminals of this width are still about, and so are windows side by side. */
const WIDTH = 80;
const CALL = 'npx -p nestjs-zookeeper-lock zk-lock';
const GROUPS: readonly Command['group'][] = ['Look', 'Step in', 'Use'];

export function generalHelp(commands: readonly Command[]): string {
  const list = GROUPS.flatMap((group) => {
    const rows = commands.filter((one) => one.group === group).map((one) => [usageOf(one), one.summary] as const);
    return [`${group}:`, ...aligned(rows, 28), ''];
  });
  return [
    'zk-lock looks at the locks of nestjs-zookeeper-lock, and frees a stuck one.',
    '',
    `Usage: ${CALL} COMMAND [options]`,
    '',
    ...list,
    'Options:',
    ...flagLines(COMMON_FLAGS),
    '',
    'Connection. Each option can stand in the environment: --tls-ca as ZK_LOCK_TLS_CA',
    ...flagLines(CONNECTION_FLAGS),
    'No secret is an option. A password stands in that file, or in the environment as',
    'ZK_LOCK_AUTH_DIGEST=user:password; the passphrase of a key is in the environment',
    'as ZK_LOCK_TLS_PASSPHRASE.',
    '',
    'Exit codes (run has its own: zk-lock run --help):',
    ...aligned(EXIT_TEXTS, 6),
    '',
    'Times have a unit: 500ms, 30s, 5m, 2h. Docs: docs/cli.md in the package.',
  ].join('\n');
}

export function commandHelp(command: Command): string {
  const { about, flags, exitTexts } = command;
  return [
    ...wrapped(`Usage: zk-lock ${command.name} [options] ${command.operands}`, WIDTH, '       '),
    '',
    ...about.flatMap((paragraph) => [...wrapped(paragraph, WIDTH), '']),
    'Options:',
    ...flagLines(flags),
    ...flagLines(COMMON_FLAGS.filter(({ name }) => name === 'json')),
    '  and those of the connection, which zk-lock --help lists',
    '',
    'Exit codes:',
    ...aligned(exitTexts, 6),
  ].join('\n');
}

function usageOf({ name, operands }: Command): string {
  return operands === '' ? name : `${name} ${operands}`;
}

function flagLines(flags: readonly Flag[]): string[] {
  const rows = flags.map(
    ({ name, value, text }) => [`--${name}${value === undefined ? '' : ` ${value}`}`, text] as const,
  );
  return aligned(rows, 27);
}

/** Two columns, of which the second is wrapped. */
function aligned(rows: readonly (readonly [string, string])[], firstWidth: number): string[] {
  const indent = ' '.repeat(firstWidth + 2);
  return rows.flatMap(([first, second]) => {
    const [line = '', ...more] = wrapped(second, WIDTH - indent.length);
    return [`  ${first.padEnd(firstWidth)}${line}`, ...more.map((rest) => indent + rest)];
  });
}
