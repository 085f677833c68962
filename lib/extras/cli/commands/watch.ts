import { isUp } from '../../../session/connection-state.js';
import type { LockSnapshot } from '../../../lock/snapshot.js';
import { createLockService } from '../../../open.js';
import type { Call, Command } from '../command.js';
import { whoText } from '../contenders.js';
import { EXIT, EXIT_TEXTS } from '../exit-codes.js';
import { cutEnd } from '../words.js';

export const watch: Command = {
  name: 'watch',
  group: 'Look',
  operands: 'KEY',
  operandCount: [1, 1],
  summary: 'a line for each change of a lock, until Ctrl-C',
  about: [
    'Prints a line whenever the queue of the lock changes: the time by this machine, the state, how many wait, the token and the holder. ' +
      'Changes that follow each other quickly may share a line; the last one is always shown.',
    'With --json each line is a snapshot, as show has it.',
  ],
  flags: [],
  exitTexts: [['0', 'ended with Ctrl-C, or SIGTERM'], ...EXIT_TEXTS.slice(2)],
  run: runWatch,
};

async function runWatch({ operands, connection, terminal }: Call): Promise<number> {
  const key = operands[0]!;
  await using locks = await createLockService(connection);
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  // Who reads this has ended: `zk-lock watch KEY | head`.
  process.stdout.once('close', end);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  const links = locks.connectionState$.subscribe((state) => {
    if (!isUp(state)) terminal.tell(`the connection is ${state}: what follows may be late`, { state });
  });
  const snapshots = new Promise<void>((resolve, reject) => {
    const subscription = locks.watch(key).subscribe({
      next: (snapshot) =>
        terminal.isJson
          ? terminal.printJsonLine(snapshot)
          : terminal.print(cutEnd(changeText(snapshot, new Date()), terminal.width)),
      error: reject,
      complete: resolve,
    });
    void ended.then(() => {
      subscription.unsubscribe();
      resolve();
    });
  });
  try {
    await snapshots;
  } finally {
    links.unsubscribe();
  }
  return EXIT.done;
}

function changeText({ state, queueLength, holders }: LockSnapshot, at: Date): string {
  const time = at.toTimeString().slice(0, 8);
  const [holder] = holders;
  const others = holders.length > 1 ? ` and ${holders.length - 1} more` : '';
  const who = holder === undefined ? '' : `  token ${holder.fencingToken}  ${whoText(holder)}${others}`;
  return `${time}  ${state.padEnd(7)}  ${`${queueLength} wait`.padEnd(8)}${who}`.trimEnd();
}
