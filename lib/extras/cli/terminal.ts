import { createInterface } from 'node:readline/promises';
import { wrapped } from './words.js';

const STYLES = { red: 31, green: 32, yellow: 33, bold: 1, dim: 2 } as const;
export type Style = keyof typeof STYLES;

const DEFAULT_WIDTH = 80;
const PROGRESS_EVERY_MS = 100;

/** The streams of this process, for results (stdout) and for what is said beside them (stderr). */
export class Terminal {
  readonly isJson: boolean;
  #lastProgressAt = -Infinity;
  #hasProgress = false;
  #hasLostResult = false;

  constructor(isJson: boolean) {
    this.isJson = isJson;
    // `zk-lock ls | head` ends the reader first: what is left to say then interests nobody. A result that is lost in another way must not
    // pass for one that was given.
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE' || this.#hasLostResult) return;
      this.#hasLostResult = true;
      this.tell(`the result cannot be written to stdout: ${error.message}`, { code: 'UNWRITABLE' });
    });
    // A terminal that was closed, or a disk that is full, must not end what stops a command whose lock is lost.
    process.stderr.on('error', () => undefined);
  }

  /** Lines are cut or wrapped at this column. A file or a pipe gets lines of any length: another program may search in them. */
  get width(): number {
    return process.stdout.isTTY ? (process.stdout.columns ?? DEFAULT_WIDTH) : Infinity;
  }

  /** True if somebody sits there who can be asked. */
  get canAsk(): boolean {
    return process.stdin.isTTY && process.stderr.isTTY;
  }

  get isWatched(): boolean {
    return process.stderr.isTTY;
  }

  print(...lines: readonly string[]): void {
    this.#endProgress();
    for (const line of lines) process.stdout.write(`${line}\n`);
  }

  /** The result for programs: one document. */
  printJson(value: unknown): void {
    this.print(JSON.stringify(value, undefined, 2));
  }

  /** The results of a stream for programs: a document in each line. */
  printJsonLine(value: unknown): void {
    this.print(JSON.stringify(value));
  }

  /** Resolves when all results have been handed over. @returns false where some could not be written */
  async written(): Promise<boolean> {
    await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
    // A stream tells of an error in a turn behind the one that tells of the write.
    await new Promise<void>((resolve) => setImmediate(resolve));
    return !this.#hasLostResult;
  }

  /** Says something beside the result. With `--json` it says it in JSON. */
  tell(text: string, facts: object = {}): void {
    this.#endProgress();
    if (this.isJson) {
      process.stderr.write(`${JSON.stringify({ ...facts, message: text })}\n`);
      return;
    }
    const width = process.stderr.isTTY ? (process.stderr.columns ?? DEFAULT_WIDTH) : Infinity;
    for (const line of wrapped(`zk-lock: ${text}`, width, '  ')) process.stderr.write(`${line}\n`);
  }

  /** A line that the next one replaces, for somebody who waits; nothing where nobody looks. */
  progress(text: string): void {
    const now = performance.now();
    if (!process.stderr.isTTY || this.isJson || now - this.#lastProgressAt < PROGRESS_EVERY_MS) return;
    this.#lastProgressAt = now;
    this.#hasProgress = true;
    process.stderr.write(`\r\u001b[K${text}`);
  }

  /** @returns whether the answer is yes */
  async ask(question: string): Promise<boolean> {
    this.#endProgress();
    const reader = createInterface({ input: process.stdin, output: process.stderr });
    // Ctrl-C and the end of the input are a no.
    const ended = new Promise<string>((resolve) => reader.once('close', () => resolve('')));
    const answer = await Promise.race([reader.question(`${question} [y/N] `), ended]);
    reader.close();
    return /^\s*y(es)?\s*$/i.test(answer);
  }

  /** Colours where a person reads them, and has not asked for none (https://no-color.org). */
  paint(style: Style, text: string): string {
    const { NO_COLOR: noColor = '', TERM: term } = process.env;
    if (!process.stdout.isTTY || noColor !== '' || term === 'dumb') return text;
    return `\u001b[${STYLES[style]}m${text}\u001b[0m`;
  }

  #endProgress(): void {
    if (this.#hasProgress) process.stderr.write('\r\u001b[K');
    this.#hasProgress = false;
  }
}
