import { fileURLToPath } from 'node:url';
import { within } from '../process/eventually.js';
import { curatorJava, kazooPython } from './install.js';
import type { Journal } from './journal.js';
import { LineProcess } from './line-process.js';

const START_WITHIN_MS = 30_000;
const ANSWER_WITHIN_MS = 20_000;

/** `blind` is kazoo's mutex without the pattern that shows it our contenders. */
export type NeighbourMode = 'exclusive' | 'read' | 'write' | 'blind';

/** A lock that a neighbour asked for. */
export interface NeighbourHold {
  /** Resolves with its node's name when the neighbour holds the lock. */
  readonly held: Promise<string>;
  /** Gives it back; resolves when that is done. */
  release(): Promise<void>;
}

/** A neighbour that takes and gives back a lock without a pause. */
export interface NeighbourCycle {
  /** Lets it finish its round; resolves with how many there were. */
  end(): Promise<number>;
}

interface Question {
  readonly onHeld: (name: string) => void;
  readonly resolve: (words: string[]) => void;
  readonly reject: (error: Error) => void;
}

/** A client of another make in a process of its own, with a session of its own. */
export class Neighbour implements AsyncDisposable {
  readonly #process: LineProcess;
  readonly #questions = new Map<string, Question>();
  #asked = 0;

  private constructor(process: LineProcess) {
    this.#process = process;
    process.onLine((line) => this.#hear(line.split('\t')));
    void process.ended.then(() => {
      for (const { reject } of this.#questions.values())
        reject(new Error(`${process.name} has ended. ${process.tail()}`));
    });
  }

  /** Resolves when it has a session. */
  static async start(name: string, program: string, args: readonly string[]): Promise<Neighbour> {
    const neighbour = new Neighbour(await LineProcess.start(name, program, args));
    try {
      await within(START_WITHIN_MS, `${name} has a session`, neighbour.#answerTo('start').done);
      return neighbour;
    } catch (error) {
      await neighbour.stop();
      throw error;
    }
  }

  /** Asks for a lock; it is in the queue, or holds, some time after this call. */
  hold(mode: NeighbourMode, key: string): NeighbourHold {
    const { id, held, done } = this.#say('hold', mode, key);
    const ended = done.then(() => undefined);
    const heldInTime = within(
      ANSWER_WITHIN_MS,
      `${this.#process.name} holds ${key}`,
      Promise.race([held, done.then(() => '')]),
    );
    // Whoever awaits one of them hears of the failure; a test that has failed before awaits neither.
    for (const promise of [ended, heldInTime]) promise.catch(() => undefined);
    return {
      held: heldInTime,
      release: async () => {
        await this.ask('end', id);
        await within(ANSWER_WITHIN_MS, `${this.#process.name} gives ${key} back`, ended);
      },
    };
  }

  cycle(mode: NeighbourMode, key: string): NeighbourCycle {
    const { id, done } = this.#say('cycle', mode, key);
    done.catch(() => undefined);
    return {
      end: async () => {
        await this.ask('end', id);
        const [rounds] = await within(ANSWER_WITHIN_MS, `${this.#process.name} finishes its round`, done);
        return Number(rounds);
      },
    };
  }

  /** Any other command of its script; resolves with the words of the answer. */
  ask(...words: readonly string[]): Promise<string[]> {
    return within(ANSWER_WITHIN_MS, `${this.#process.name} answers '${words.join(' ')}'`, this.#say(...words).done);
  }

  async stop(): Promise<void> {
    await this.#process.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #say(...words: readonly string[]): { id: string; held: Promise<string>; done: Promise<string[]> } {
    this.#asked += 1;
    const id = String(this.#asked);
    const answers = this.#answerTo(id);
    this.#process.say([id, ...words].join('\t'));
    return { id, ...answers };
  }

  #answerTo(id: string): { held: Promise<string>; done: Promise<string[]> } {
    let onHeld: (name: string) => void = () => undefined;
    const held = new Promise<string>((resolve) => (onHeld = resolve));
    const done = new Promise<string[]>((resolve, reject) => {
      this.#questions.set(id, { onHeld, resolve, reject });
    });
    return { held, done };
  }

  #hear([id = '', verdict, ...words]: string[]): void {
    const question = this.#questions.get(id);
    if (question === undefined) return;
    if (verdict === 'held') {
      question.onHeld(words[0] ?? '');
      return;
    }
    this.#questions.delete(id);
    if (verdict === 'ok') question.resolve(words);
    else question.reject(new Error(`${this.#process.name}: ${words.join(' ')}. ${this.#process.tail()}`));
  }
}

/** Curator's InterProcessMutex and InterProcessReadWriteLock. */
export async function startCurator(connect: string, journal: Journal): Promise<Neighbour> {
  const { java, classpath } = await curatorJava();
  const script = fileURLToPath(new URL('./CuratorNeighbour.java', import.meta.url));
  const flags = ['-Xshare:auto', '-XX:TieredStopAtLevel=1', '-Dorg.slf4j.simpleLogger.defaultLogLevel=error'];
  return Neighbour.start('Curator', java, [...flags, '-cp', classpath, script, connect, journal.path]);
}

/** kazoo's Lock, WriteLock and ReadLock. */
export async function startKazoo(connect: string, journal: Journal): Promise<Neighbour> {
  const script = fileURLToPath(new URL('./kazoo_neighbour.py', import.meta.url));
  return Neighbour.start('kazoo', await kazooPython(), [script, connect, journal.path]);
}
