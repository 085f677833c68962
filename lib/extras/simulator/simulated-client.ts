import { type ClosableLockService, openLockService, type Surroundings } from '../../open.js';
import type { ResolvedOptions } from '../../options.js';
import type { SimulatedProcess } from '../../session/simulator/simulated-process.js';
import type { Simulation } from '../../session/simulator/simulation.js';
import { type CheckCall, DrivenLockService } from './driven-lock-service.js';
import { LockRecipe } from './lock-recipe.js';

/** One process of the fleet, as far as its locks are concerned: a session, and a lock service over it. */
export class SimulatedClient {
  /**
   * The lock service of this process, which is that of production. It connects by itself. In a Nest test:
   * `overrideProvider(LockService).useValue(client.locks)`.
   */
  readonly locks: ClosableLockService;
  /** The steps of a lock by hand, over the same session. */
  readonly recipe: LockRecipe;
  readonly #process: SimulatedProcess;
  readonly #check: CheckCall;

  /** @internal */
  constructor(simulation: Simulation, process: SimulatedProcess, options: ResolvedOptions, checkCall: CheckCall) {
    this.#process = process;
    this.#check = (what) => {
      if (process.state === 'killed') throw new Error(`${what}: client '${process.name}' was killed`);
      checkCall(what);
    };
    const { service } = openLockService(options, surroundingsOf(simulation, process));
    this.locks = new DrivenLockService(service, this.#check);
    this.recipe = new LockRecipe(service, this.#check);
  }

  /** The name that `simulator.client(name)` was given. */
  get name(): string {
    return this.#process.name;
  }

  /** Whether the process runs, stands still (`faults.pauseClient`) or is gone for good (`faults.killClient`). */
  get state(): 'running' | 'paused' | 'killed' {
    return this.#process.state;
  }

  /** The ids of the servers that it is connected to now: one or none. */
  get connectedTo(): readonly number[] {
    return this.#process.connectedTo;
  }

  /**
   * Resolves after this much of the process's time, which does not pass while the process is paused. For code on this
   * client.
   */
  sleep(durationMs: number): Promise<void> {
    this.#check('sleep');
    return new Promise((resolve) => this.#process.clock.setTimer(durationMs, resolve));
  }
}

function surroundingsOf(simulation: Simulation, process: SimulatedProcess): Surroundings {
  const { name, clock, random } = process;
  const common = { clock, random, randomUuid: () => uuid(random), machine: { host: name, pid: 1 } };
  return {
    ...common,
    servers: simulation.servers,
    dialer: (acl) => process.dialer(acl),
    alone: () => {
      const ensemble = simulation.ensembleInside(process);
      const alone: ReturnType<Surroundings['alone']> = {
        ...common,
        servers: simulation.servers.slice(0, 1),
        dialer: () => process.dialerInside(ensemble),
        alone: () => alone,
        stop: () => ensemble.stop(),
      };
      return alone;
    },
  };
}

function uuid(random: () => number): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');
  // The digits 4 and a mark a random UUID, as randomUUID() makes them.
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20)].join('-');
}
