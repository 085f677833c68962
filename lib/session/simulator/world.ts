import type { Server } from '../core/link.js';
import type { Stat } from '../requests.js';
import { Faults } from './faults.js';
import { addressesOf } from './network/simulated-dialer.js';
import { Ensemble } from './server/ensemble.js';
import { DEFAULT_SETTINGS, type EnsembleSettings } from './server/settings.js';
import { SimulatedProcess } from './simulated-process.js';
import { SeededRandom } from './time/random.js';
import { VirtualTime } from './time/virtual-time.js';
import { statOf } from './tree/znode.js';

export interface WorldSettings extends Partial<EnsembleSettings> {
  /**
   * Chance decides the order of what happens at one instant, how frames fall into segments and how lists are sorted;
   * the same seed decides the same. Without it everything happens in the order in which it was asked for.
   */
  readonly seed?: number;
  /** Told of every message that reaches a client or a server. */
  readonly trace?: (line: string) => void;
}

const START_WITHIN_MS = 60_000;
const DEFAULT_PATIENCE_MS = 600_000;

/** An ensemble and its clients on a virtual clock: time passes only inside the `run...` methods. */
export class SimulatedWorld {
  readonly ensemble: Ensemble;
  readonly faults: Faults;
  readonly #time: VirtualTime;
  readonly #processes = new Map<string, SimulatedProcess>();

  /** The ensemble has its leader already, and time has hardly begun. */
  constructor({ seed, trace, ...settings }: WorldSettings = {}) {
    const random = new SeededRandom(seed ?? 0);
    this.#time = new VirtualTime(seed === undefined ? undefined : random.fork('schedule'));
    this.ensemble = new Ensemble(this.#time, { ...DEFAULT_SETTINGS, ...settings }, random.fork('ensemble'), trace);
    this.faults = new Faults(this.ensemble);
    this.#time.runAlone(() => this.ensemble.isServing && this.ensemble.isWhole, START_WITHIN_MS);
  }

  now(): number {
    return this.#time.now();
  }

  /** What a session's `servers` setting takes. */
  get servers(): readonly Server[] {
    return addressesOf(this.ensemble);
  }

  /** Who leads; undefined while nobody does. */
  get leaderId(): number | undefined {
    return this.ensemble.leader?.id;
  }

  get followerIds(): number[] {
    return this.ensemble.servers.filter(({ role }) => role.name === 'following' && role.isServing).map(({ id }) => id);
  }

  /** The process of this name: made when first asked for. */
  process(name: string): SimulatedProcess {
    const process = this.#processes.get(name) ?? new SimulatedProcess(this.ensemble, name);
    this.#processes.set(name, process);
    return process;
  }

  /** Lets so much time pass. */
  async runFor(durationMs: number): Promise<void> {
    await this.#time.run(() => false, this.#time.now() + durationMs);
  }

  /** Lets time pass until `condition` holds; throws when it does not within `withinMs`. */
  async runUntil(condition: () => boolean, withinMs = DEFAULT_PATIENCE_MS): Promise<void> {
    if (await this.#time.run(condition, this.#time.now() + withinMs)) return;
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
    if (await this.#time.run(() => isSettled, this.#time.now() + withinMs)) return noted;
    throw new Error(`The promise did not settle within ${withinMs} ms of simulated time.`);
  }

  /** What a server has: the leader, if it is not said which. */
  stat(path: string, serverId = this.#leaderId()): Stat | undefined {
    const node = this.ensemble.server(serverId).tree.nodes.get(path);
    return node === undefined ? undefined : statOf(node);
  }

  children(path: string, serverId = this.#leaderId()): string[] {
    return [...(this.ensemble.server(serverId).tree.nodes.get(path)?.children ?? [])];
  }

  /** The sessions that have not ended. */
  sessions(serverId = this.#leaderId()): bigint[] {
    return [...this.ensemble.server(serverId).tree.sessions.keys()];
  }

  /** Over all servers. */
  get watchCount(): number {
    return this.ensemble.servers.reduce((sum, { watches }) => sum + watches.count, 0);
  }

  #leaderId(): number {
    if (this.leaderId === undefined)
      throw new Error('Nobody leads the simulated ensemble now: say which server you mean.');
    return this.leaderId;
  }
}
