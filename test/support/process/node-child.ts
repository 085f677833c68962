import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { TYPESCRIPT_FLAGS } from '../typescript/flags.js';
import { killWithUs } from './reaper.js';
import { freezeProcess, hasEnded, killProcess, resumeProcess } from './signals.js';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
const DEFAULT_WITHIN_MS = 45_000;
const OUTPUT_TAIL_LINES = 30;

export interface NodeChildOptions {
  args?: readonly string[];
  /** Added to this process's environment. */
  env?: Readonly<Record<string, string>>;
  /** Flags for node itself, such as `--expose-gc`. */
  nodeFlags?: readonly string[];
}

export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
}

interface Waiter {
  /** True when it takes the message. */
  offer(message: unknown): boolean;
  fail(reason: Error): void;
}

/** A Node process that runs a TypeScript file and talks with the test; the file uses `parent.ts`. */
export class NodeChild {
  /** Resolves when the process has ended, in whatever way. */
  readonly ended: Promise<Ending>;
  /** Every message so far, taken or not. */
  readonly messages: unknown[] = [];
  private readonly untaken: unknown[] = [];
  private readonly waiters = new Set<Waiter>();
  private printed = '';

  constructor(private readonly child: ChildProcess) {
    this.ended = new Promise((resolve) => {
      // 'close' comes behind the last message and the last line of output, 'exit' may overtake them.
      child.once('close', (code, signal) => {
        for (const waiter of this.waiters) waiter.fail(new Error('It has ended.'));
        resolve({ code, signal });
      });
    });
    child.on('message', (message: unknown) => this.receive(message));
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.printed += text));
    }
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error('The process did not start.');
    return this.child.pid;
  }

  get isRunning(): boolean {
    return !hasEnded(this.child);
  }

  /** What it wrote to stdout and stderr. */
  output(): string {
    return this.printed;
  }

  /** Sends anything that can be cloned, bigint included. */
  send(message: unknown): void {
    if (!this.child.connected) throw new Error(`No message can be sent to a child that has ended.${this.outputTail()}`);
    this.child.send(message as object);
  }

  /**
   * Takes the first message that fits, one that came before this call included; each is taken once. Rejects with the
   * child's output when none comes in time or the child ends.
   */
  next<T>(what: string, fits: (message: unknown) => message is T, withinMs = DEFAULT_WITHIN_MS): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        offer: (message) => {
          if (!fits(message)) return false;
          settle();
          resolve(message);
          return true;
        },
        fail: (reason) => {
          settle();
          reject(new Error(`No message '${what}' from the child. ${reason.message}${this.outputTail()}`));
        },
      };
      const timer = setTimeout(() => waiter.fail(new Error(`Waited ${withinMs} ms.`)), withinMs);
      const settle = (): void => {
        clearTimeout(timer);
        this.waiters.delete(waiter);
      };
      const index = this.untaken.findIndex((message) => waiter.offer(message));
      if (index >= 0) this.untaken.splice(index, 1);
      else if (!this.isRunning) waiter.fail(new Error('It has ended.'));
      else this.waiters.add(waiter);
    });
  }

  /** SIGSTOP, as a machine that stalls; resolves when it stands still. */
  async pause(): Promise<void> {
    await freezeProcess(this.child);
  }

  /** SIGCONT. */
  async resume(): Promise<void> {
    await resumeProcess(this.child);
  }

  /** SIGKILL, paused or not; resolves when it is gone. Safe to call twice. */
  async kill(): Promise<void> {
    await killProcess(this.child);
    await this.ended;
  }

  /** Any other signal, such as SIGTERM. */
  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  private receive(message: unknown): void {
    this.messages.push(message);
    for (const waiter of this.waiters) if (waiter.offer(message)) return;
    this.untaken.push(message);
  }

  private outputTail(): string {
    const tail = this.printed.trimEnd().split('\n').slice(-OUTPUT_TAIL_LINES).join('\n');
    return tail === '' ? ' It printed nothing.' : ` Last lines it printed:\n${tail}`;
  }
}

/** Starts `script` (`new URL('./worker.ts', import.meta.url)`); it is killed when this process ends, at the latest. */
export async function startNodeChild(script: URL, options: NodeChildOptions = {}): Promise<NodeChild> {
  const { args = [], env = {}, nodeFlags = [] } = options;
  const child = spawn(process.execPath, [...TYPESCRIPT_FLAGS, ...nodeFlags, fileURLToPath(script), ...args], {
    cwd: REPOSITORY,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
  });
  await once(child, 'spawn');
  killWithUs(child);
  const nodeChild = new NodeChild(child);
  child.channel?.unref();
  for (const stream of [child.stdout, child.stderr]) if (stream instanceof Socket) stream.unref();
  return nodeChild;
}

/** Fits messages of the form `{ type: 'ready', ... }`, which is all that most tests need. */
export function ofType<Type extends string>(
  type: Type,
): (message: unknown) => message is { type: Type } & Record<string, unknown> {
  return (message): message is { type: Type } & Record<string, unknown> =>
    typeof message === 'object' && message !== null && 'type' in message && message.type === type;
}
