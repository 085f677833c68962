import { spawn, type ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';

/**
 * What a test started and must not outlive it: processes and temporary folders.
 *
 * Jest gives test files a copy of `process` on which an 'exit' listener is never called, and no listener runs after a
 * SIGKILL. So a shell of a few lines holds the other end of a pipe: the kernel closes it however this process ends, and
 * the shell then kills the processes and removes the folders that were not checked out before.
 */
const REAPER_SCRIPT = `
trap '' INT TERM HUP
pids=''
folders=''
without() { for item in $1; do [ "$item" = "$2" ] || printf '%s ' "$item"; done; }
while read -r verb value; do
  case "$verb" in
    process) pids="$pids $value" ;;
    ended) pids=$(without "$pids" "$value") ;;
    folder) folders="$folders $value" ;;
    removed) folders=$(without "$folders" "$value") ;;
  esac
done
for pid in $pids; do kill -KILL "$pid" 2>/dev/null; done
for folder in $folders; do rm -rf "$folder"; done
`;

const guarded = new Set<string>();
let reaperInput: Writable | undefined;

function guard(kind: 'process' | 'folder', value: string): void {
  guarded.add(`${kind} ${value}`);
  reaperInput ??= startReaper();
  reaperInput.write(`${kind} ${value}\n`);
}

function letGo(kind: 'process' | 'folder', value: string): void {
  if (!guarded.delete(`${kind} ${value}`)) return;
  reaperInput?.write(`${kind === 'process' ? 'ended' : 'removed'} ${value}\n`);
  if (guarded.size > 0) return;
  reaperInput?.end();
  reaperInput = undefined;
}

function startReaper(): Writable {
  const shell = spawn('/bin/sh', ['-c', REAPER_SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  shell.unref();
  // The pipe must not keep the test process alive: its end is what the shell waits for.
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  return shell.stdin;
}

/** Kills `child` when this process ends in whatever way, unless the child ended before. */
export function killWithUs(child: ChildProcess): void {
  if (child.pid === undefined) return;
  const pid = String(child.pid);
  // A test that fails before it stops what it started must not keep the runner waiting for ever.
  child.unref();
  guard('process', pid);
  child.once('exit', () => letGo('process', pid));
}

/** Removes `folder` when this process ends in whatever way, unless `folderRemoved` was told before. */
export function removeWithUs(folder: string): void {
  if (/\s/.test(folder)) throw new Error(`A temporary folder without spaces in its name is needed, not '${folder}'.`);
  guard('folder', folder);
}

export function folderRemoved(folder: string): void {
  letGo('folder', folder);
}
