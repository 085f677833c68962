import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { EXIT, SIGNAL_BASE } from '../exit-codes.js';
import { isGroupRunning, isInForeground } from './process-group.js';

const LOOK_EVERY_MS = 50;
/** SIGKILL ends a process within a moment, if nothing in the kernel holds it up. */
const KILLED_WITHIN_MS = 1_000;
/** Node takes a longer delay for none at all. */
const MAX_DELAY_MS = 0x7fff_ffff;

/** A command ends in one of these ways. */
export type Ending =
  | { readonly type: 'exited'; readonly code: number }
  | { readonly type: 'killed'; readonly signal: NodeJS.Signals }
  | { readonly type: 'not started'; readonly error: NodeJS.ErrnoException };

/**
 * The command that runs under the lock, with the streams of this process.
 *
 * Where no terminal's keys reach it, it gets a process group of its own, so that a signal reaches its children as well: the SIGTERM that
 * ends a shell would leave what the shell has started. At a terminal it must stay in the group of this process, or it could not read
 * from the terminal.
 */
export class ChildCommand {
  readonly hasOwnGroup = process.platform !== 'win32' && !isInForeground();
  readonly ended: Promise<Ending>;
  readonly #pid: number | undefined;

  constructor(file: string, args: readonly string[], environment: NodeJS.ProcessEnv) {
    let child: ChildProcess;
    try {
      child = spawn(file, args, { stdio: 'inherit', env: environment, detached: this.hasOwnGroup });
    } catch (error) {
      // Node throws at what it sees before the start, such as an empty name.
      this.ended = Promise.resolve({ type: 'not started', error: error as NodeJS.ErrnoException });
      return;
    }
    this.#pid = child.pid;
    // Whatever ends this process while the command runs, the command must not go on without the lock.
    const kill = (): void => this.signal('SIGKILL');
    process.once('exit', kill);
    this.ended = new Promise((resolve) => {
      const end = (ending: Ending): void => {
        process.off('exit', kill);
        resolve(ending);
      };
      child.once('error', (error: NodeJS.ErrnoException) => {
        // An error after the start is a signal that could not be sent, which its sender hears of.
        if (child.pid === undefined) end({ type: 'not started', error });
      });
      child.once('exit', (code, signal) => {
        end(signal === null ? { type: 'exited', code: code ?? 0 } : { type: 'killed', signal });
      });
    });
  }

  /** Sends it a signal. Where it has ended, or belongs to another user by now, nothing happens. */
  signal(name: NodeJS.Signals): void {
    const pid = this.#pid;
    if (pid === undefined) return;
    try {
      process.kill(this.hasOwnGroup ? -pid : pid, name);
    } catch {
      // The command has ended, or runs as another user now. Its end is waited for in either case.
    }
  }

  /** Ends it, with SIGTERM and, when the grace is over, with SIGKILL. Resolves when it is gone, and its group with it. */
  stop(graceMs: number): Promise<void> {
    this.signal('SIGTERM');
    return this.isGone(graceMs);
  }

  /** Resolves when it is gone, and its group with it, which gets SIGKILL when the grace is over. */
  async isGone(graceMs: number): Promise<void> {
    // A signal ends a shell sooner than what the shell has started, and that may need its time.
    let givesUpAt = Infinity;
    const killing = setTimeout(
      () => {
        givesUpAt = performance.now() + KILLED_WITHIN_MS;
        this.signal('SIGKILL');
      },
      Math.min(graceMs, MAX_DELAY_MS),
    );
    await this.ended;
    const pid = this.#pid;
    const isLeft = (): boolean => this.hasOwnGroup && pid !== undefined && isGroupRunning(pid);
    while (isLeft() && performance.now() < givesUpAt) await pause(LOOK_EVERY_MS);
    clearTimeout(killing);
  }
}

/** As a shell tells it: 127 where there is no such program, 126 for all else that keeps one from being started. */
export function exitCodeOf(ending: Ending): number {
  switch (ending.type) {
    case 'exited':
      return ending.code;
    case 'killed':
      return signalCode(ending.signal);
    case 'not started':
      return isMissing(ending.error) ? EXIT.notFound : EXIT.notExecutable;
  }
}

/** Tells whether there is no such program. Node refuses the empty name by itself; shells look for it, and do not find it. */
export function isMissing({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT' || code === 'ERR_INVALID_ARG_VALUE';
}

export function signalCode(signal: NodeJS.Signals): number {
  return SIGNAL_BASE + constants.signals[signal];
}
