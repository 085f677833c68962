import { LockError } from '../../../lock/errors.js';
import type { LockHandle } from '../../../lock/handle.js';
import { visible } from '../../../lock/visible.js';
import type { Call } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { spanText } from '../words.js';
import { ChildCommand, type Ending, exitCodeOf, isMissing } from './child-command.js';
import type { SignalRelay } from './signal-relay.js';

const GRACE_MS = 5_000;

/** From SIGTERM to SIGKILL. */
export function graceOf({ flags }: Call): number {
  return flags.span('grace') ?? GRACE_MS;
}

/**
 * Runs the command to its end, while the lock is held.
 * @returns the exit code
 */
export async function runUnder(lock: LockHandle, call: Call, signals: SignalRelay): Promise<number> {
  const { childCommand, flags, terminal } = call;
  const [file = '', ...args] = childCommand;
  const { key, fencingToken, nodePath } = lock;
  const say = (text: string, event: string): void => {
    if (flags.isSet('verbose')) terminal.tell(text, { event, key, token: String(fencingToken) });
  };
  say(`${visible(key)} is held with the token ${fencingToken}`, 'held');
  const names = { ZK_LOCK_TOKEN: String(fencingToken), ZK_LOCK_KEY: key, ZK_LOCK_NODE: nodePath };
  const child = new ChildCommand(file, args, { ...process.env, ...names });
  signals.handTo(child);
  const stopping = stopWhenLost(lock, child, call);
  const ending = await child.ended;
  // A process that stood still may see the end of the command before any timer has told of the loss.
  const isLost = (): boolean => lock.signal.aborted || !lock.isHeld();
  if (isLost()) await stopping();
  else if (signals.isRelayed) await child.isGone(graceOf(call));
  if (ending.type === 'not started') {
    terminal.tell(`the command ${visible(file)} cannot be started: ${reasonOf(ending.error)}`, {
      event: 'not started',
      key,
    });
    return exitCodeOf(ending);
  }
  say(`the command has ended (${endText(ending)})`, 'ended');
  return isLost() ? EXIT.lost : exitCodeOf(ending);
}

/** @returns waits for the end of the stopping, where it has begun */
function stopWhenLost(lock: LockHandle, child: ChildCommand, call: Call): () => Promise<void> {
  let stopped: Promise<void> | undefined;
  const graceMs = graceOf(call);
  const stop = (): void => {
    stopped = child.stop(graceMs);
    const { reason } = lock.signal as { readonly reason: unknown };
    const why = reason instanceof LockError ? visible(reason.details) : 'the lock was lost';
    call.terminal.tell(`the command is stopped, with SIGKILL after ${spanText(graceMs)}: ${why}`, {
      event: 'lost',
      key: lock.key,
    });
  };
  if (lock.signal.aborted) stop();
  else lock.signal.addEventListener('abort', stop, { once: true });
  return () => stopped ?? child.stop(graceMs);
}

function endText(ending: Ending): string {
  return ending.type === 'killed' ? ending.signal : `exit code ${exitCodeOf(ending)}`;
}

function reasonOf(error: NodeJS.ErrnoException): string {
  if (isMissing(error)) return 'there is no such program';
  switch (error.code) {
    case 'EACCES':
      return 'it is not executable';
    case 'E2BIG':
      return 'its arguments, or they and its environment, are longer than this system allows. Hand them over in a file, or by stdin';
    default:
      return error.message;
  }
}
