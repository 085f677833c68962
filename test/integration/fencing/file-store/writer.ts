import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { eventually } from '../../../support/process/eventually.js';
import { killWithUs } from '../../../support/process/reaper.js';
import { freezeProcess, hasEnded, killProcess, resumeProcess } from '../../../support/process/signals.js';
import { type Attempt, readDiary } from './diary.js';

export interface WriterOptions {
  readonly script: string;
  readonly root: string;
  readonly name: string;
  readonly mode: 'alone' | 'crowd';
  readonly minJournalBytes: number;
  /** Where its diary goes. */
  readonly diary: string;
}

/** A process that changes a file of the store until it is killed. */
export class Writer {
  private constructor(
    private readonly process: ChildProcess,
    private readonly diary: string,
  ) {}

  /** Resolves when its store is open. */
  static async start({ script, root, name, mode, minJournalBytes, diary }: WriterOptions): Promise<Writer> {
    const output = await open(diary, 'a');
    try {
      const child = spawn(process.execPath, [script, root, name, mode, String(minJournalBytes)], {
        stdio: ['ignore', output.fd, output.fd, 'pipe'],
      });
      killWithUs(child);
      const writer = new Writer(child, diary);
      await Promise.race([once(child.stdio[3] as Readable, 'data'), once(child, 'exit')]);
      if (hasEnded(child)) throw new Error(`A writer did not start:\n${await readFile(diary, 'utf8')}`);
      return writer;
    } finally {
      await output.close();
    }
  }

  /** Waits until it has begun so many attempts, which takes as long as the machine takes. */
  async untilAttempts(count: number): Promise<void> {
    const isSo = async (): Promise<boolean> => (await readDiary(this.diary)).length >= count;
    await eventually(`a writer has begun ${count} attempts`, isSo, { everyMs: 1 });
  }

  /** SIGSTOP; resolves with what it did so far, the last of it cut short as a rule. */
  async stop(): Promise<Attempt[]> {
    await this.#assertAlive();
    await freezeProcess(this.process);
    return readDiary(this.diary);
  }

  /** SIGCONT. */
  resume(): Promise<void> {
    return resumeProcess(this.process);
  }

  /** SIGKILL; resolves with what it did. */
  async kill(): Promise<Attempt[]> {
    await this.#assertAlive();
    await killProcess(this.process);
    return readDiary(this.diary);
  }

  async #assertAlive(): Promise<void> {
    if (hasEnded(this.process)) throw new Error(`A writer has ended by itself:\n${await readFile(this.diary, 'utf8')}`);
  }
}
