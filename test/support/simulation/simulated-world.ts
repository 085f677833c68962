import type { Stat } from '../../../lib/session/requests.js';
import { Simulation, type SimulationSettings } from '../../../lib/session/simulator/simulation.js';
import { statOf } from '../../../lib/session/simulator/tree/znode.js';

export type WorldSettings = Omit<SimulationSettings, 'clock'>;

const DEFAULT_PATIENCE_MS = 600_000;

/** A simulation on its virtual clock, whose time passes only inside the `run...` methods, and what tests look at in it. */
export class SimulatedWorld extends Simulation {
  constructor(settings: WorldSettings = {}) {
    super(settings);
  }

  /** Lets so much time pass. */
  async runFor(durationMs: number): Promise<void> {
    await this.drive(() => false, durationMs);
  }

  /** Lets time pass until `condition` holds; throws when it does not within `withinMs`. */
  async runUntil(condition: () => boolean, withinMs = DEFAULT_PATIENCE_MS): Promise<void> {
    if (await this.drive(condition, withinMs)) return;
    throw new Error(`Not so within ${withinMs} ms of simulated time: ${condition.toString()}`);
  }

  /** Lets time pass until the promise settles, and returns or throws what it settles with. */
  async settle<T>(promise: Promise<T>, withinMs = DEFAULT_PATIENCE_MS): Promise<T> {
    let isSettled = false;
    const noted = promise.finally(() => {
      isSettled = true;
    });
    // Awaited below; a rejection that comes while time runs has its handler by then.
    noted.catch(() => undefined);
    if (await this.drive(() => isSettled, withinMs)) return noted;
    throw new Error(`The promise did not settle within ${withinMs} ms of simulated time.`);
  }

  /** What a server has: the leader, if it is not said which. */
  stat(path: string, serverId = this.leaderOrThrow()): Stat | undefined {
    const node = this.ensemble.server(serverId).tree.nodes.get(path);
    return node === undefined ? undefined : statOf(node);
  }

  /** The sessions that have not ended. */
  sessions(serverId = this.leaderOrThrow()): bigint[] {
    return [...this.ensemble.server(serverId).tree.sessions.keys()];
  }
}
