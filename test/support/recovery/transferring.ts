import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { within } from '../process/eventually.js';
import { killWithUs } from '../process/reaper.js';
import { hasEnded, killProcess } from '../process/signals.js';
import { type Entry, readSteps, type WhenToDie } from './steps.js';

const ENDS_WITHIN_MS = 30_000;

/** A process that transfers money, from its start to its end. */
export class Transferring {
  readonly #ended: Promise<unknown>;

  private constructor(
    private readonly child: ChildProcess,
    private readonly diary: string,
  ) {
    this.#ended = once(child, 'exit');
  }

  /** Resolves when it only waits to be let go. */
  static async start(script: string, args: readonly string[], diary: string): Promise<Transferring> {
    const output = await open(diary, 'a');
    try {
      const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', output.fd, output.fd, 'ipc'] });
      killWithUs(child);
      const transferring = new Transferring(child, diary);
      await transferring.#hearsOrEnds();
      if (hasEnded(child)) throw new Error(`A process did not start:\n${await readFile(diary, 'utf8')}`);
      return transferring;
    } finally {
      await output.close();
    }
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Lets it begin; resolves when it is connected, or has died already. */
  async begin(when: WhenToDie | undefined): Promise<void> {
    this.child.send(when ?? {});
    await this.#hearsOrEnds();
  }

  async kill(): Promise<void> {
    await killProcess(this.child);
  }

  async untilEnded(): Promise<void> {
    this.child.ref();
    await within(ENDS_WITHIN_MS, `the end of a process that wrote ${this.diary}`, this.#ended);
  }

  async entries(): Promise<Entry[]> {
    return readSteps(await readFile(this.diary, 'utf8'));
  }

  async #hearsOrEnds(): Promise<void> {
    await Promise.race([once(this.child, 'message'), this.#ended]);
  }
}
