import type { LockService } from '../../../engine/lock-service.js';
import { visible } from '../../../lock/visible.js';
import type { BreakOutcome } from '../../doctor/break-lock.js';
import type { Call, Command } from '../command.js';
import { holderLines } from '../contenders.js';
import { STEP_EXIT_TEXTS } from '../exit-codes.js';
import { askingText, notFound, STEP_FLAGS, stepIn, whyOf } from '../step.js';
import { spanText } from '../words.js';

const GRACE_MS = 10_000;

const OUTCOMES: Readonly<Record<BreakOutcome, string>> = {
  'in order': 'the holder was told, and has ended its work',
  'removed by force': 'the grace was over, and its place was removed. A late write of it has a token that is too small',
  'was gone already': 'the holder had left before it could be told',
};

export const breakCommand: Command = {
  name: 'break',
  group: 'Step in',
  operands: 'KEY',
  operandCount: [1, 1],
  summary: 'take a lock away from one holder',
  about: [
    'Takes the lock away from the holder that has the token. If another one holds it by now, nothing is done.',
    'The holder is told at once. It keeps others out until its work has ended, or the grace is over. Then its place is removed, and the ' +
      'next one enters.',
    askingText('who would lose the lock'),
  ],
  flags: [
    { name: 'token', value: 'TOKEN', text: 'the fencing token of the holder that is meant' },
    ...STEP_FLAGS,
    { name: 'grace', value: 'TIME', text: 'how long the holder may put things right (10s)' },
  ],
  exitTexts: STEP_EXIT_TEXTS,
  run: runBreak,
};

function runBreak(call: Call): Promise<number> {
  const { operands, flags } = call;
  const key = operands[0]!;
  const token = flags.token();
  const why = whyOf(call);
  const graceMs = flags.span('grace') ?? GRACE_MS;
  return stepIn(call, {
    question: 'Break this lock?',
    shown: (locks) => holderWith(locks, key, token),
    meanwhile: `waiting up to ${spanText(graceMs)} for the holder to end its work...`,
    carryOut: (doctor) => doctor.break(key, { token, ...why, graceMs }),
    outcome: ({ ended, tookMs }) => `${visible(key)} is broken: ${OUTCOMES[ended]} (${spanText(tookMs)})`,
  });
}

/** Shows the holder to the person who is asked. The break itself finds out whether the token is still the holder's. */
async function holderWith(locks: LockService, key: string, token: bigint): Promise<string[]> {
  const { holders, queueLength } = await locks.inspect(key);
  const meant = holders.find(({ fencingToken }) => fencingToken === token);
  if (meant === undefined) throw notFound(key, `the lock is not held with the token ${token}`);
  return [`This would take ${visible(key)} away from`, ...holderLines(meant), `  waiting  ${queueLength}`];
}
