import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { EXIT, SIGNAL_BASE } from '../exit-codes.js';
import { isInForeground } from './foreground.js';

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

  /** @returns whether somebody was there to get it, and this user may send it */
  signal(name: NodeJS.Signals | 0): boolean {
    const { pid } = this.#child;
    if (pid === undefined) return false;
    try {
      return process.kill(this.hasOwnGroup ? -pid : pid, name);
    } catch {
      return false;
    }
  }

  /** Ends it, with SIGTERM and, when the grace is over, with SIGKILL. Resolves when it is gone, and its group with it. */
  async stop(graceMs: number): Promise<void> {
    const timeIsUp = new AbortController();
    this.signal('SIGTERM');
    const killing = setTimeout(() => {
      timeIsUp.abort();
      this.signal('SIGKILL');
    }, graceMs);
    await this.ended;
    // The shell may have ended before what it had started.
    while (this.hasOwnGroup && this.signal(0) && !timeIsUp.signal.aborted) await pause(LOOK_EVERY_MS);
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
