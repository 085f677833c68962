/** Each command ends with one of these. `run` has codes of its own, because it ends as the command under the lock did. */
export const EXIT = {
  done: 0,
  /** The answer is no: a finding, a check that failed, a holder that is another one by now, a question answered with no. */
  no: 1,
  wrongUse: 2,
  unavailable: 3,
  /** A fault of this tool, or a result that cannot be written. */
  fault: 70,
  lost: 121,
  busy: 122,
  notConnected: 123,
  notExecutable: 126,
  notFound: 127,
} as const;

/** As shells have it: what a signal ended has 128 and its number. */
export const SIGNAL_BASE = 128;

export const EXIT_TEXTS: readonly (readonly [code: string, text: string])[] = [
  ['0', 'done; the answer is yes, or nothing was found'],
  ['1', 'the answer is no: something was found, failed, or was not done'],
  ['2', 'wrong use: an option, a key, a setting of the connection'],
  ['3', 'ZooKeeper did not answer in time'],
  ['70', 'a fault of zk-lock itself, or its result cannot be written'],
];

/** Of commands that only look. */
export const LOOK_EXIT_TEXTS: readonly (readonly [code: string, text: string])[] = [
  ['0', 'done, also where there is nothing to show'],
  ...EXIT_TEXTS.slice(2),
];

/** Of commands that step in. */
export const STEP_EXIT_TEXTS: readonly (readonly [code: string, text: string])[] = [
  ['0', 'done'],
  ['1', 'not done: it was refused, or not confirmed'],
  ...EXIT_TEXTS.slice(2),
];

export const RUN_EXIT_TEXTS: readonly (readonly [code: string, text: string])[] = [
  ['N', "the command's own exit code; 128+n where signal n ended it"],
  ['0', 'with --once also: the lock is busy, and the command did not run'],
  ['121', 'the lock was lost, or broken, while the command ran: it was stopped'],
  ['2', 'wrong use. With this code, and those below, the command did not run'],
  ['122', 'the lock is busy: --wait was over (--busy-code), or the key is closed'],
  ['123', 'ZooKeeper did not answer in time'],
  ['126', 'the command is there, and cannot be started'],
  ['127', 'there is no such command'],
];
