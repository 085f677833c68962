import { describe, expect, it } from '@jest/globals';
import type { LockHandle } from '../../../../lib/lock/handle.js';
import { blocks } from '../../../../lib/queue/decide.js';
import { SeededRandom } from '../../../../lib/session/simulator/time/random.js';
import { type Client, EngineWorld } from '../support/engine-world.js';

const KEY = '/locks/cache';
const SEEDS = 20;
const CALLERS = 3;
const FAULTS = 6;
const MODES = ['exclusive', 'write', 'read', 'read', 'upgradeable'] as const;

/** Callers of two services take one lock again and again, while links come and go. */
class Fallback {
  readonly engine: EngineWorld;
  readonly overlaps: string[] = [];
  readonly held = { fleet: 0, process: 0 };
  readonly #inside = new Map<LockHandle, Client>();
  readonly #random: SeededRandom;
  #isQuiet = false;

  constructor(seed: number) {
    this.engine = new EngineWorld({ seed, clientLatencyMs: [0.2, 3] });
    this.#random = new SeededRandom(seed).fork('fallback');
  }

  async play(): Promise<void> {
    const { engine } = this;
    const options = { local: 'when unavailable' } as const;
    const clients = [await engine.client('one', options), await engine.client('other', options)];
    const callers = clients.flatMap((client, index) =>
      Array.from({ length: CALLERS }, (_, number) => this.#call(client, this.#random.fork(`${index} ${number}`))),
    );
    for (let fault = 0; fault < FAULTS; fault += 1) {
      const { process } = clients[this.#random.integer(clients.length)]!;
      await engine.runFor(1_500 * this.#random.next());
      engine.faults.refuse(process);
      await engine.runFor(this.#random.integer(2) * 7_000 * this.#random.next());
      engine.faults.accept(process);
    }
    this.#isQuiet = true;
    await engine.settle(Promise.all(callers), 120_000);
    await engine.end();
  }

  async #call(client: Client, random: SeededRandom): Promise<void> {
    while (!this.#isQuiet) {
      await client.sleep(200 * random.next());
      const mode = MODES[random.integer(MODES.length)]!;
      const lock = await client.locks
        .acquire(KEY, { mode, waitMs: 200 + 6_000 * random.next() })
        .catch(() => undefined);
      if (lock === undefined) continue;
      this.held[lock.scope] += 1;
      this.#inside.set(lock, client);
      this.#look();
      if (mode === 'upgradeable') await lock.upgrade({ waitMs: 1_000 }).catch(() => undefined);
      this.#look();
      // For as long as a link is away, now and then.
      await client.sleep(random.integer(3) === 0 ? 5_000 * random.next() : 100 * random.next());
      this.#look();
      this.#inside.delete(lock);
      await lock.release();
    }
  }

  /** Locks of one process exclude each other, whatever stands behind them, and so do those of the fleet. */
  #look(): void {
    const held = [...this.#inside].filter(([lock]) => lock.isHeld());
    for (const [lock, client] of held)
      for (const [other, another] of held) {
        const share = client === another || (lock.scope === 'fleet' && other.scope === 'fleet');
        if (lock !== other && share && blocks(lock.mode, other.mode) && blocks(other.mode, lock.mode))
          this.overlaps.push(`${lock.mode} of ${lock.scope} beside ${other.mode} of ${other.scope}`);
      }
  }
}

describe("with whenUnavailable: 'local', locks that stand in exclude those of the fleet", () => {
  it.each(Array.from({ length: SEEDS }, (_, index) => index + 1))(
    'whatever becomes of the links: seed %i',
    async (seed) => {
      const fallback = new Fallback(seed);
      await fallback.play();
      expect(fallback.overlaps).toEqual([]);
      expect(fallback.held.fleet).toBeGreaterThan(0);
    },
    120_000,
  );
});
