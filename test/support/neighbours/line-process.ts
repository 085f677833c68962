import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { killWithUs } from '../process/reaper.js';
import { hasEnded, killProcess } from '../process/signals.js';

const OUTPUT_TAIL_LINES = 30;

/** A program that is spoken to in lines, and answers in lines on stdout or stderr. */
export class LineProcess implements AsyncDisposable {
  /** Resolves when it has ended and all it printed has come. */
  readonly ended: Promise<void>;
  readonly #listeners = new Set<(line: string) => void>();
  #printed = '';

  private constructor(
    readonly name: string,
    private readonly child: ChildProcessByStdio<Writable, Readable, Readable>,
  ) {
    this.ended = new Promise((resolve) => child.once('close', () => resolve()));
    for (const stream of [child.stdout, child.stderr]) {
      let rest = '';
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#printed += text;
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) for (const listener of [...this.#listeners]) listener(line);
      });
    }
    // Writing to a program that has just ended is reported by its end.
    child.stdin.on('error', () => undefined);
  }

  /** It is killed when this process ends, at the latest. */
  static async start(name: string, program: string, args: readonly string[]): Promise<LineProcess> {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    await once(child, 'spawn');
    killWithUs(child);
    for (const stream of socketsOf(child)) stream.unref();
    return new LineProcess(name, child);
  }

  get hasEnded(): boolean {
    return hasEnded(this.child);
  }

  say(line: string): void {
    if (this.hasEnded) throw new Error(`${this.name} has ended. ${this.tail()}`);
    this.child.stdin.write(`${line}\n`);
  }

  /** Says no more: a program that reads its commands to their end then ends by itself. */
  hangUp(): void {
    this.child.stdin.end();
  }

  /** @returns what ends the listening */
  onLine(listener: (line: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** For errors: the last it printed. */
  tail(): string {
    const tail = this.#printed.trimEnd().split('\n').slice(-OUTPUT_TAIL_LINES).join('\n');
    return tail === '' ? 'It printed nothing.' : `Last lines it printed:\n${tail}`;
  }

  async kill(): Promise<void> {
    // Nothing else may keep this process alive until the last of its output has come.
    for (const stream of socketsOf(this.child)) stream.ref();
    await killProcess(this.child);
    await this.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

function socketsOf({ stdin, stdout, stderr }: ChildProcessByStdio<Writable, Readable, Readable>): Socket[] {
  return [stdin, stdout, stderr].filter((stream) => stream instanceof Socket);
}
