import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { eventually } from './eventually.js';

/** Stops a process in its tracks (SIGSTOP); resolves when the kernel says that it stands still. */
export async function freezeProcess(child: ChildProcess): Promise<void> {
  signal(child, 'SIGSTOP');
  await eventually(`process ${child.pid} standing still`, async () => (await stateOf(child)) === 'T', { everyMs: 1 });
}

/** Lets a frozen process go on (SIGCONT); resolves when it is no longer standing still. */
export async function resumeProcess(child: ChildProcess): Promise<void> {
  signal(child, 'SIGCONT');
  await eventually(`process ${child.pid} going on`, async () => (await stateOf(child)) !== 'T', { everyMs: 1 });
}

/** Kills a process, frozen or not (SIGKILL); resolves when it is gone, at once when it already was. */
export async function killProcess(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  // Children are not waited for otherwise (reaper.ts); here the process must live on to hear of the end.
  child.ref();
  child.kill('SIGKILL');
  await gone;
}

export function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

function signal(child: ChildProcess, name: NodeJS.Signals): void {
  if (hasEnded(child)) throw new Error(`Cannot send ${name} to process ${child.pid}: it has ended.`);
  child.kill(name);
}

/** The one-letter state of Linux: R, S, D, T (stopped), Z. It follows the command's name, which may hold any character. */
async function stateOf(child: ChildProcess): Promise<string> {
  const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).charAt(0);
}
