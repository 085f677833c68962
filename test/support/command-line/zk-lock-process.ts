import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { eventually } from '../process/eventually.js';
import { killWithUs } from '../process/reaper.js';
import { freezeProcess, hasEnded, killProcess, resumeProcess } from '../process/signals.js';
import { compileScript, type ScriptNeeds } from '../typescript/compiled-script.js';

const SCRIPT = new URL('../../../lib/extras/cli/zk-lock.ts', import.meta.url);
const TERMINAL_COLUMNS = 80;

/** For scripts of a shell that wait for a signal. They end by themselves, in case that a test fails and nobody sends one. */
export const AWHILE = 'i=0; while [ $((i=i+1)) -lt 1500 ]; do sleep 0.02; done';
/** For scripts that wait for a file of the name in $GO. */
export const UNTIL_GO = 'i=0; until [ -e "$GO" ] || [ $((i=i+1)) -gt 1500 ]; do sleep 0.02; done';

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** One process of the tool. */
export class ZkLockProcess {
  readonly finished: Promise<Finished>;
  stdout = '';
  stderr = '';

  constructor(private readonly child: ChildProcess) {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    // What a failed test leaves running must not keep the runner.
    for (const stream of [child.stdin, child.stdout, child.stderr]) if (stream instanceof Socket) stream.unref();
    this.finished = new Promise((resolve) => {
      child.once('close', (code) => resolve({ code, stdout: this.stdout, stderr: this.stderr }));
    });
  }

  get isRunning(): boolean {
    return !hasEnded(this.child);
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  type(text: string): void {
    this.child.stdin?.write(text);
  }

  pause(): Promise<void> {
    return freezeProcess(this.child);
  }

  resume(): Promise<void> {
    return resumeProcess(this.child);
  }

  kill(): Promise<void> {
    return killProcess(this.child);
  }

  /** Resolves when it has written this to stdout or stderr. */
  async untilItSays(text: string | RegExp): Promise<void> {
    const says = (): boolean =>
      [this.stdout, this.stderr].some((said) => (typeof text === 'string' ? said.includes(text) : text.test(said)));
    await eventually(`zk-lock says ${String(text)}`, says, {
      withinMs: 20_000,
      everyMs: 5,
      explain: () => `It said:\n${this.stdout}\n${this.stderr}`,
      giveUp: () =>
        this.isRunning || says() ? undefined : new Error(`It has ended, and said:\n${this.stdout}\n${this.stderr}`),
    });
  }
}

/** The tool as it is in the working tree. */
export class ZkLock {
  readonly #started: ZkLockProcess[] = [];
  #path: string | undefined;

  async compile({ packages = [], loads = [] }: ScriptNeeds = {}): Promise<void> {
    this.#path = (await compileScript(SCRIPT, { packages: ['rxjs', ...packages], loads })).path;
  }

  start(args: readonly string[], environment: Readonly<Record<string, string>> = {}): ZkLockProcess {
    return this.#keep(spawn(process.execPath, [this.#script, ...args], { env: cleaned(environment) }));
  }

  /** At a terminal of 80 columns, on which all of its streams are. */
  startAtTerminal(args: readonly string[], environment: Readonly<Record<string, string>> = {}): ZkLockProcess {
    const words = [process.execPath, this.#script, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
    const command = `stty cols ${TERMINAL_COLUMNS}; exec ${words.join(' ')}`;
    const env = cleaned({ TERM: 'xterm', ...environment });
    return this.#keep(spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], { env }));
  }

  /** As `start`; whatever it writes to this stream fails, as on a disk that is full. */
  startWithFull(
    stream: 'stdout' | 'stderr',
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): ZkLockProcess {
    const full = openSync('/dev/full', 'w');
    try {
      const stdio: StdioOptions = ['ignore', stream === 'stdout' ? full : 'pipe', stream === 'stderr' ? full : 'pipe'];
      return this.#keep(spawn(process.execPath, [this.#script, ...args], { env: cleaned(environment), stdio }));
    } finally {
      closeSync(full);
    }
  }

  /** Runs it to its end. */
  call(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Finished> {
    return this.start(args, environment).finished;
  }

  /** Ends what a failed test has left. */
  async killAll(): Promise<void> {
    await Promise.all(this.#started.splice(0).map((one) => one.kill()));
  }

  get #script(): string {
    if (this.#path === undefined) throw new Error('The tool is only being compiled: use it in hooks and tests.');
    return this.#path;
  }

  #keep(child: ChildProcess): ZkLockProcess {
    killWithUs(child);
    const started = new ZkLockProcess(child);
    this.#started.push(started);
    return started;
  }
}

/** Colours and settings of whoever runs the tests have no say. */
function cleaned(environment: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const foreign = /^(?:ZK_LOCK_|NO_COLOR$|FORCE_COLOR$|NODE_OPTIONS$|NODE_V8_COVERAGE$)/;
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name))), ...environment };
}
