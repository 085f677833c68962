import { setTimeout as pause } from 'node:timers/promises';
import { LockError } from '../../../lib/lock/errors.js';
import { eventually } from '../process/eventually.js';
import type { LockClient } from './lock-client.js';
import { Witness } from './witness.js';

export interface LoadOptions {
  readonly keys: readonly string[];
  /** Callers that go round and round, for each client. @default 2 */
  readonly callers?: number;
  /** How long a lock is held. @default 2 */
  readonly holdMs?: number;
  /** Before a caller asks again. @default 0 */
  readonly pauseMs?: number;
}

/** Callers of several services that take locks on the same keys without end, with a witness at each key. */
export class Load {
  readonly witnesses: ReadonlyMap<string, Witness>;
  readonly failures: LockError[] = [];
  readonly surprises: unknown[] = [];
  #isStopping = false;
  readonly #running: Promise<void>;

  constructor(
    clients: readonly LockClient[],
    private readonly options: LoadOptions,
  ) {
    this.witnesses = new Map(options.keys.map((key) => [key, new Witness()]));
    const callers = Array.from({ length: options.callers ?? 2 });
    this.#running = Promise.all(
      clients.flatMap((client, id) => callers.map((_, caller) => this.#goRound(client, `client ${id} (${caller})`))),
    ).then(() => undefined);
  }

  get grants(): number {
    return [...this.witnesses.values()].reduce((sum, { grants }) => sum + grants.length, 0);
  }

  get violations(): string[] {
    return [...this.witnesses.values()].flatMap(({ violations }) => violations);
  }

  /** Resolves when every key has been granted that often from now on. */
  async untilAllKeysGranted(times: number, withinMs: number): Promise<void> {
    const witnesses = [...this.witnesses.values()];
    const goals = witnesses.map(({ grants }) => grants.length + times);
    await eventually(
      `${times} more grants of each key`,
      () => witnesses.every(({ grants }, at) => grants.length >= goals[at]!),
      { withinMs, explain: () => `Failures: ${this.failures.slice(-5).map(String).join('; ') || 'none'}` },
    );
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  async #goRound(client: LockClient, who: string): Promise<void> {
    const { keys, holdMs = 2, pauseMs = 0 } = this.options;
    for (let round = 0; !this.#isStopping; round += 1) {
      const key = keys[(round + who.length) % keys.length]!;
      try {
        const lock = await client.service.acquire(key);
        const witness = this.witnesses.get(key)!;
        witness.enter(who, lock);
        await pause(holdMs);
        witness.leave(lock);
        await lock.release();
        if (pauseMs > 0) await pause(pauseMs);
      } catch (error) {
        if (error instanceof LockError) this.failures.push(error);
        else this.surprises.push(error);
      }
    }
  }
}
