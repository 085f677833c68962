import { basename } from 'node:path';
import type { LockService } from '../../../engine/lock-service.js';
import type { AcquireOptions } from '../../../lock/acquire-options.js';
import { LockError, type LockErrorCode } from '../../../lock/errors.js';
import type { LockHandle } from '../../../lock/handle.js';
import { createLockService } from '../../../open.js';
import { visible } from '../../../lock/visible.js';
import type { Call, Command } from '../command.js';
import { whoText } from '../contenders.js';
import { EXIT, RUN_EXIT_TEXTS } from '../exit-codes.js';
import { signalCode } from '../run/child-command.js';
import { graceOf, runUnder } from '../run/run-under.js';
import { SignalRelay } from '../run/signal-relay.js';
import { UsageError } from '../usage-error.js';
import { countText } from '../words.js';

/** A wait for ever, for a clock. */
const FOR_EVER_MS = Number.MAX_SAFE_INTEGER;
/** After so long somebody may wonder why nothing happens. */
const TELL_AFTER_MS = 2_000;
const MAX_LABEL = 200;
const MAX_EXIT_CODE = 255;

export const run: Command = {
  name: 'run',
  group: 'Use',
  operands: 'KEY -- COMMAND [ARG...]',
  operandCount: [1, 1],
  summary: 'run a command under a lock',
  about: [
    'Waits for the lock, runs the command while it is held, and releases it when the command has ended. The command has the streams of ' +
      'this process. SIGINT, SIGTERM, SIGHUP and SIGQUIT are passed on to it.',
    'Its environment has ZK_LOCK_KEY, ZK_LOCK_NODE and ZK_LOCK_TOKEN. Hand the token to the store: it then refuses a stale writer.',
    'When the lock is lost, the command gets SIGTERM at once, and SIGKILL after the grace. Except at a terminal, all processes of its ' +
      'group get both.',
    'What the command leaves in the background does not keep the lock. When zk-lock itself is killed with SIGKILL, nothing stops the ' +
      'command: the token is for that.',
  ],
  flags: [
    { name: 'once', text: 'try once; if the lock is busy, do not run the command' },
    {
      name: 'at-least',
      value: 'TIME',
      text: 'keep the key busy for so long after the start, for jobs that many machines have',
    },
    { name: 'mode', value: 'MODE', text: 'exclusive (the default), read or write' },
    { name: 'grace', value: 'TIME', text: 'from SIGTERM to SIGKILL, when the lock is lost (5s)' },
    { name: 'busy-code', value: 'N', text: 'the exit code if the lock is busy (122; with --once 0)' },
    { name: 'label', value: 'TEXT', text: 'what show and ls call it (as the command is called)' },
    { name: 'verbose', text: 'say on stderr what happens' },
  ],
  exitTexts: RUN_EXIT_TEXTS,
  run: runCommand,
};

async function runCommand(call: Call): Promise<number> {
  const [file] = call.childCommand;
  if (file === undefined)
    throw new UsageError('run needs a command behind --, such as: zk-lock run /locks/a -- ./job.sh');
  const options = optionsOf(call, file);
  const busyCode = busyCodeOf(call);
  // A mistake in it must show before the command runs, not when the lock is lost.
  graceOf(call);
  let signals: SignalRelay | undefined;
  try {
    await using locks = await createLockService(call.connection);
    // Up to here a signal ends this process as any other: it holds nothing.
    signals = new SignalRelay();
    const lock = await acquire(call, locks, { ...options, signal: signals.interrupted });
    if (lock === undefined) return skipped(call, busyCode ?? EXIT.done);
    try {
      if (signals.received !== undefined) return signalCode(signals.received);
      return await runUnder(lock, call, signals);
    } finally {
      await lock.release();
    }
  } catch (error) {
    return failed(error, call, signals?.received);
  } finally {
    signals?.stop();
  }
}

/** Says why the command was not started. What has nothing to do with the lock being busy, or away, is thrown on. */
function failed(error: unknown, call: Call, received: NodeJS.Signals | undefined): number {
  if (!(error instanceof LockError)) throw error;
  const { code, key, details } = error;
  if (code === 'LOCK_ABORTED' && received !== undefined) return signalCode(received);
  const exitCode = BUSY.includes(code) ? (busyCodeOf(call) ?? EXIT.busy) : EXIT_BY_CODE[code];
  if (exitCode === undefined) throw error;
  call.terminal.tell(visible(details), { code, key });
  return exitCode;
}

function busyCodeOf({ flags }: Call): number | undefined {
  return flags.count('busy-code', MAX_EXIT_CODE);
}

function optionsOf({ flags, connection }: Call, file: string): AcquireOptions {
  const mode = flags.choice('mode', ['exclusive', 'read', 'write']);
  const atLeastMs = flags.span('at-least');
  return {
    label: (flags.text('label') ?? `zk-lock run ${basename(file)}`).slice(0, MAX_LABEL),
    ...(mode === undefined ? {} : { mode }),
    ...(atLeastMs === undefined ? {} : { atLeastMs }),
    // Where it tries once, the time for an answer is the service's own.
    ...(flags.isSet('once') ? {} : { waitMs: connection.waitMs ?? FOR_EVER_MS }),
  };
}

/** @returns undefined where the lock is busy, and the call tries once */
async function acquire(call: Call, locks: LockService, options: AcquireOptions): Promise<LockHandle | undefined> {
  const key = call.operands[0]!;
  if (call.flags.isSet('once')) return locks.tryAcquire(key, options);
  let isOver = false;
  const timer = setTimeout(() => {
    // Nobody needs this line to go on. Where its look fails, the wait itself fails and says why.
    locks.inspect(key).then(
      ({ holders: [holder], queueLength }) => {
        if (isOver || holder === undefined) return;
        const ahead = queueLength > 1 ? `, ${countText(queueLength - 1, 'other')} in the queue` : '';
        const text = `waiting for ${visible(key)}: held by ${whoText(holder)}, token ${holder.fencingToken}${ahead}`;
        call.terminal.tell(text, { event: 'waiting', key });
      },
      () => undefined,
    );
  }, TELL_AFTER_MS);
  try {
    return await locks.acquire(key, options);
  } finally {
    isOver = true;
    clearTimeout(timer);
  }
}

function skipped({ operands, flags, terminal }: Call, exitCode: number): number {
  // Cron sends a mail for each line, and where every machine has the same job, all but one of them skip it.
  if (terminal.isWatched || flags.isSet('verbose'))
    terminal.tell(`${visible(operands[0]!)} is busy: the command was left out`, { event: 'skipped', key: operands[0] });
  return exitCode;
}

const EXIT_BY_CODE: Partial<Record<LockErrorCode, number>> = {
  LOCK_UNAVAILABLE: EXIT.notConnected,
  LOCK_CLOSED: EXIT.notConnected,
  // A closed key waits for somebody who repairs it: no wait, and no other code for "busy", is for that.
  LOCK_ABANDONED: EXIT.busy,
};
const BUSY: readonly LockErrorCode[] = ['LOCK_TIMEOUT', 'LOCK_DRAINED', 'LOCK_QUEUE_FULL'];
