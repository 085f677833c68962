import type { LockSnapshot } from '../../../lock/snapshot.js';
import { createLockService } from '../../../open.js';
import { visible } from '../../../lock/visible.js';
import { commandWith, quoted, shellWords } from '../../doctor/findings/command-lines.js';
import type { Call, Command } from '../command.js';
import { connectionWords } from '../connection.js';
import { abandonedLines, holderLines, whoText } from '../contenders.js';
import { EXIT, LOOK_EXIT_TEXTS } from '../exit-codes.js';
import { tableLines } from '../table.js';
import { spanText } from '../words.js';

const MAX_SHOWN = 10;

export const show: Command = {
  name: 'show',
  group: 'Look',
  operands: 'KEY',
  operandCount: [1, 1],
  summary: 'who holds a lock, and who waits for it',
  about: [
    'Shows who holds the lock and who waits for it, in the order in which they will be served, and what can be done. It is a strong ' +
      'read: what it shows was true when the servers answered.',
  ],
  flags: [{ name: 'all', text: 'all waiting contenders, up to a hundred, instead of ten' }],
  exitTexts: LOOK_EXIT_TEXTS,
  run: runShow,
};

async function runShow({ operands, connection, terminal, flags }: Call): Promise<number> {
  const key = operands[0]!;
  await using locks = await createLockService(connection);
  const snapshot = await locks.inspect(key);
  if (terminal.isJson) terminal.printJson(snapshot);
  else {
    const lines = snapshotLines(snapshot, terminal.width, flags.isSet('all') ? Infinity : MAX_SHOWN);
    const { namespace = '' } = connection;
    const options = [...(namespace === '' ? [] : ['--namespace', namespace]), ...connectionWords(flags, connection)];
    terminal.print(...lines, ...adviceLines(snapshot, options));
  }
  return EXIT.done;
}

/** @param most how many of those that wait are shown */
export function snapshotLines(snapshot: LockSnapshot, width: number, most: number): string[] {
  const { key, holders, queue, queueLength, abandoned } = snapshot;
  return [
    `${visible(key)} is ${stateText(snapshot)}`,
    ...holders.flatMap((holder) => ['', 'Holder', ...holderLines(holder)]),
    ...(abandoned === undefined ? [] : ['', 'Vanished inside', ...abandonedLines(abandoned)]),
    ...(queue.length === 0 ? [] : ['', ...queueLines(snapshot, width, most)]),
    ...(queueLength > Math.min(queue.length, most) ? [`  and ${queueLength - Math.min(queue.length, most)} more`] : []),
  ];
}

function stateText({ state, queueLength, abandoned }: LockSnapshot): string {
  const waiting = queueLength === 0 ? 'nobody waits' : queueLength === 1 ? '1 waits' : `${queueLength} wait`;
  if (state === 'FREE') return queueLength === 0 ? 'free' : `free, ${waiting}: it is being handed over`;
  const left = abandoned === undefined ? '' : ', and what a holder that vanished has left is not repaired yet';
  if (state === 'HELD') return `held, ${waiting}${left}`;
  return `held by nobody, because its last holder vanished inside; ${waiting}`;
}

function queueLines({ queue, waitEstimateMs }: LockSnapshot, width: number, most: number): string[] {
  const rows = queue.slice(0, most).map((one, index) => [`${index + 1}`, spanText(one.ageMs), one.mode, whoText(one)]);
  const estimate = waitEstimateMs === undefined ? '' : `; a newcomer would wait for about ${spanText(waitEstimateMs)}`;
  const columns = [
    { title: '#', align: 'right' },
    { title: 'WAITED', align: 'right' },
    { title: 'MODE' },
    { title: 'WHO', cut: 'end' },
  ] as const;
  return [`Waiting${estimate}`, ...tableLines(columns, rows, width - 2).map((line) => `  ${line}`)];
}

/** @param options what a command must say of the connection, to mean the same lock */
function adviceLines({ key, holders, abandoned, state }: LockSnapshot, options: readonly string[]): string[] {
  const [holder] = holders;
  const at = visible([quoted(key), shellWords(options)].join(' ').trimEnd());
  if (holder !== undefined)
    return [
      '',
      'If it is stuck:',
      ...commandLines(`${commandWith(options)} break ${at}`, `--token ${holder.fencingToken} --reason '...'`),
    ];
  if (abandoned === undefined || state !== 'EXPIRED') return [];
  return [
    '',
    'If it stays closed, and what the holder left is repaired:',
    ...commandLines(`${commandWith(options)} clear ${at}`, `--token ${abandoned.token} --reason '...'`),
  ];
}

/** A command to paste, on two lines where one would be too long. */
function commandLines(first: string, second: string): string[] {
  const line = `  ${first} ${second}`;
  return line.length <= 80 ? [line] : [`  ${first} \\`, `    ${second}`];
}
