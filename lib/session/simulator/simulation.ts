import type { Server } from '../core/link.js';
import { Faults } from './faults.js';
import { addressesOf } from './network/simulated-dialer.js';
import { Ensemble } from './server/ensemble.js';
import { DEFAULT_SETTINGS, type EnsembleSettings } from './server/settings.js';
import { SimulatedProcess } from './simulated-process.js';
import { SeededRandom } from './time/random.js';
import { RealTime } from './time/real-time.js';
import type { Timeline } from './time/timeline.js';
import { VirtualTime } from './time/virtual-time.js';

export interface SimulationSettings extends Partial<EnsembleSettings> {
  /** With 'virtual', time passes only inside `drive`. @default 'virtual' */
  readonly clock?: 'virtual' | 'real';
  /**
   * The seed for the order of what happens at one instant, for how frames fall into segments and for the order of
   * lists. The same seed gives the same run. Without a seed everything happens in the order in which it was asked for.
   */
  readonly seed?: number | undefined;
  /** Called with every message that reaches a client or a server. */
  readonly trace?: ((line: string) => void) | undefined;
}

const START_WITHIN_MS = 60_000;

/** An ensemble and the processes that are its clients, on one clock. */
export class Simulation {
  readonly ensemble: Ensemble;
  readonly faults: Faults;
  /** A source for the caller's own choices. Draws from it do not change what the ensemble draws. */
  readonly random: SeededRandom;
  readonly #time: VirtualTime | RealTime;
  readonly #settings: EnsembleSettings;
  readonly #processes = new Map<string, SimulatedProcess>();

  /** On the virtual clock the ensemble has elected its leader already, and time has hardly begun. */
  constructor({ clock = 'virtual', seed, trace, ...settings }: SimulationSettings = {}) {
    const random = new SeededRandom(seed ?? 0);
    // Each user of chance has a fork of its own, so that none changes what another draws.
    const chance = seed === undefined ? undefined : random.fork('schedule');
    const time = clock === 'real' ? new RealTime() : new VirtualTime(chance);
    this.random = random.fork('caller');
    this.#time = time;
    this.#settings = { ...DEFAULT_SETTINGS, ...settings };
    this.ensemble = new Ensemble(time, this.#settings, random.fork('ensemble'), trace);
    this.faults = new Faults(this.ensemble);
    if (time instanceof VirtualTime) {
      time.runAlone(() => this.ensemble.isServing && this.ensemble.isWhole, START_WITHIN_MS);
    }
  }

  get timeline(): Timeline {
    return this.#time;
  }

  now(): number {
    return this.#time.now();
  }

  /** The value for a session's `servers` setting. */
  get servers(): readonly Server[] {
    return addressesOf(this.ensemble);
  }

  /** The id of the leader; undefined while there is none. */
  get leaderId(): number | undefined {
    return this.ensemble.leader?.id;
  }

  get followerIds(): number[] {
    return this.ensemble.servers.filter(({ role }) => role.name === 'following' && role.isServing).map(({ id }) => id);
  }

  /** The process of this name. It is made at the first call. */
  process(name: string): SimulatedProcess {
    const process = this.#processes.get(name) ?? new SimulatedProcess(this.ensemble, name);
    this.#processes.set(name, process);
    return process;
  }

  /** A single server on the same clock that only this process can reach, as if it ran inside the process. */
  ensembleInside(process: SimulatedProcess): Ensemble {
    const settings = { ...this.#settings, servers: 1, clientLatencyMs: 0, logMs: 0 };
    return new Ensemble(this.#time, settings, this.random.fork(`inside ${process.name}`));
  }

  /**
   * Lets time pass until `done` holds or `withinMs` are over. Promises get their turn before `done` is asked.
   * @returns whether `done` holds
   */
  drive(done: () => boolean, withinMs: number): Promise<boolean> {
    return this.#time.run(done, this.#time.now() + withinMs);
  }

  /** The names of the children of a path, as this server has them (by default the leader). */
  children(path: string, serverId = this.leaderOrThrow()): string[] {
    return [...(this.ensemble.server(serverId).tree.nodes.get(path)?.children ?? [])];
  }

  /** How many watches all servers keep. */
  get watchCount(): number {
    return this.ensemble.servers.reduce((sum, { watches }) => sum + watches.count, 0);
  }

  protected leaderOrThrow(): number {
    if (this.leaderId === undefined)
      throw new Error('Nobody leads the simulated ensemble now: say which server you mean.');
    return this.leaderId;
  }
}
