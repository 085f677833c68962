import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { EXIT, SIGNAL_BASE } from '../exit-codes.js';
import { isGroupRunning, isInForeground } from './process-group.js';

const LOOK_EVERY_MS = 50;

/** How a command ended. */
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
  readonly #child: ChildProcess;

  constructor(file: string, args: readonly string[], environment: NodeJS.ProcessEnv) {
    this.#child = spawn(file, args, { stdio: 'inherit', env: environment, detached: this.hasOwnGroup });
    this.ended = new Promise((resolve) => {
      this.#child.once('error', (error: NodeJS.ErrnoException) => {
        // An error after the start is a signal that could not be sent, which its sender hears of.
        if (this.#child.pid === undefined) resolve({ type: 'not started', error });
      });
      this.#child.once('exit', (code, signal) => {
        resolve(signal === null ? { type: 'exited', code: code ?? 0 } : { type: 'killed', signal });
      });
    });
  }

  /** Sends it a signal. Where it has ended, or belongs to another user by now, nothing happens. */
  signal(name: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(this.hasOwnGroup ? -pid : pid, name);
    } catch {
      // What cannot be ended is waited for.
    }
  }

  /** Ends it, with SIGTERM and, when the grace is over, with SIGKILL. Resolves when it is gone, and its group with it. */
  stop(graceMs: number): Promise<void> {
    this.signal('SIGTERM');
    return this.isGone(graceMs);
  }

  /**
   * Resolves when it is gone, and its group with it, which gets SIGKILL when the grace is over: a signal ends a shell sooner than what the
   * shell has started, and that may need its time.
   */
  async isGone(graceMs: number): Promise<void> {
    let isTimeUp = false;
    const killing = setTimeout(() => {
      isTimeUp = true;
      this.signal('SIGKILL');
    }, graceMs);
    await this.ended;
    const { pid } = this.#child;
    const isLeft = (): boolean => this.hasOwnGroup && pid !== undefined && isGroupRunning(pid);
    while (!isTimeUp && isLeft()) await pause(LOOK_EVERY_MS);
    clearTimeout(killing);
  }
}

/** As a shell tells it. */
export function exitCodeOf(ending: Ending): number {
  switch (ending.type) {
    case 'exited':
      return ending.code;
    case 'killed':
      return signalCode(ending.signal);
    case 'not started':
      return ending.error.code === 'ENOENT' ? EXIT.notFound : EXIT.notExecutable;
  }
}

export function signalCode(signal: NodeJS.Signals): number {
  return SIGNAL_BASE + constants.signals[signal];
}
