import type { LockService } from '../../engine/lock-service.js';
import { StaleFencingTokenError } from '../../lock/errors.js';
import { createLockService } from '../../open.js';
import { createLockDoctor } from '../doctor/create-lock-doctor.js';
import type { LockDoctor } from '../doctor/lock-doctor.js';
import type { Call, Flag } from './command.js';
import { callerName } from './contenders.js';
import { EXIT } from './exit-codes.js';
import { UsageError } from './usage-error.js';

const MAX_TOLD = 200;

/** The options of all that steps in. */
export const STEP_FLAGS: readonly Flag[] = [
  { name: 'reason', value: 'TEXT', text: 'why; holders, waiters and logs are told' },
  { name: 'by', value: 'WHO', text: 'who does it (user@host)' },
  { name: 'yes', text: 'do not ask' },
];

/** Tells in a step's help how the step asks. @param shown what it shows first */
export function askingText(shown: string): string {
  return `It shows ${shown}, and asks. With --yes it does not ask. Where nobody can be asked (no terminal), it needs --yes.`;
}

export interface Why {
  readonly by: string;
  readonly reason: string;
}

/** Reads from the options who steps in, and why. */
export function whyOf({ flags }: Call): Why {
  const reason = flags.required('reason', "'stuck since noon'");
  const by = flags.text('by') ?? callerName();
  for (const [name, text] of Object.entries({ reason, by })) {
    if (text.length > MAX_TOLD)
      throw new UsageError(`--${name} has ${text.length} characters, and at most ${MAX_TOLD} are told`);
  }
  return { by, reason };
}

/** One command that steps in. */
export interface Step<Result extends object> {
  readonly question: string;
  /** Shows the lock to the person who is asked, before the question. */
  readonly shown: (locks: LockService) => Promise<string[]>;
  /** Told while it is carried out, where that may take a while. */
  readonly meanwhile?: string;
  readonly carryOut: (doctor: LockDoctor) => Promise<Result>;
  /** Told when it is done. */
  readonly outcome: (result: Result) => string;
}

/** Asks, carries the step out, and tells what came of it. @returns the exit code */
export async function stepIn<Result extends object>(call: Call, step: Step<Result>): Promise<number> {
  const { terminal } = call;
  if (!(await confirmed(call, step.question, step.shown))) return EXIT.no;
  if (step.meanwhile !== undefined) terminal.progress(step.meanwhile);
  const result = await withDoctor(call, step.carryOut);
  if (terminal.isJson) terminal.printJson(result);
  else terminal.print(step.outcome(result));
  return EXIT.done;
}

/**
 * Shows what would be done, and asks, unless `--yes` says that somebody has decided already.
 * @returns whether to go on
 * @throws UsageError where nobody can be asked
 */
async function confirmed(
  call: Call,
  question: string,
  shown: (locks: LockService) => Promise<string[]>,
): Promise<boolean> {
  const { flags, terminal, connection } = call;
  if (flags.isSet('yes')) return true;
  if (!terminal.canAsk)
    throw new UsageError('nobody can be asked here, as this is no terminal: add --yes where it is decided already');
  await using locks = await createLockService(connection);
  for (const line of await shown(locks)) process.stderr.write(`${line}\n`);
  if (await terminal.ask(question)) return true;
  terminal.tell('nothing was done');
  return false;
}

/** The error of a step that finds nothing to ask about. */
export function notFound(key: string, what: string): StaleFencingTokenError {
  return new StaleFencingTokenError(`${key}: ${what}, so nothing was done. Look again with zk-lock show`, key);
}

/** Opens a doctor for one command, and closes it. */
export async function withDoctor<T>({ connection }: Call, step: (doctor: LockDoctor) => Promise<T>): Promise<T> {
  await using doctor = await createLockDoctor(connection);
  return await step(doctor);
}
