import { LockConfigurationError } from '../../lock/errors.js';
import { Simulation } from '../../session/simulator/simulation.js';
import type { SimulatedProcess } from '../../session/simulator/simulated-process.js';
import { resolveClientOptions, type SimulatedClientOptions } from './client-options.js';
import { FaultArguments, type RequestKind } from './fault-arguments.js';
import { checkPlan, makeHappen, type PlannedFault } from './fault-plan.js';
import { Runs } from './runs.js';
import { SimulatedClient } from './simulated-client.js';
import { SimulatorFaults } from './simulator-faults.js';
import { describe, isMilliseconds, type LockSimulatorOptions, resolveSimulatorOptions } from './simulator-options.js';

/** Ten minutes of simulated time: by then every lock has been acquired or given up. */
const WITHIN_MS = 600_000;

/**
 * A ZooKeeper ensemble in memory, with the clients of a fleet. It shows what a lock does when links break, processes
 * stop and servers fail, within milliseconds and the same every time.
 *
 * On the virtual clock (the default) time passes only inside `run`. A test must not await timers, sockets or files of
 * the machine there: simulated time does not wait for them.
 */
export class LockSimulator implements AsyncDisposable {
  /** The faults, by name. */
  readonly faults: SimulatorFaults;
  readonly #simulation: Simulation;
  readonly #tickMs: number;
  readonly #runs: Runs;
  readonly #arguments: FaultArguments;
  readonly #processes = new Map<string, SimulatedProcess>();
  readonly #clients = new Map<string, SimulatedClient>();
  #isClosed = false;

  /** @throws LockConfigurationError for options that make no sense */
  constructor(options: LockSimulatorOptions = {}) {
    const settings = resolveSimulatorOptions(options);
    this.#simulation = new Simulation(settings);
    this.#tickMs = this.#simulation.ensemble.settings.tickMs;
    this.#runs = new Runs(this.#simulation, settings.clock === 'virtual', settings.seed);
    this.#arguments = new FaultArguments(this.#simulation, this.#processes);
    this.faults = new SimulatorFaults(this.#simulation, this.#processes, this.#arguments);
  }

  /**
   * The client of this name, which is one process of the fleet. The first call makes it, and it connects by itself.
   * @param options the options of its locks, only in the first call
   * @throws LockConfigurationError for options that make no sense
   */
  client(name: string, options?: SimulatedClientOptions): SimulatedClient {
    const known = this.#clients.get(name);
    if (known !== undefined) {
      if (options === undefined) return known;
      // Other options than those of the first call would silently have no effect.
      throw new LockConfigurationError(
        `LockSimulator: client '${name}' has its options already: give them in the first call`,
      );
    }
    this.#checkOpen('client');
    if (typeof name !== 'string' || name === '') {
      throw new LockConfigurationError(`LockSimulator: client: must be given a name, not ${describe(name)}`);
    }
    const resolved = resolveClientOptions(name, options ?? {}, this.#tickMs);
    const process = this.#simulation.process(name);
    const client = new SimulatedClient(this.#simulation, process, resolved, (what) => this.#checkCall(what));
    this.#processes.set(name, process);
    this.#clients.set(name, client);
    return client;
  }

  /**
   * Runs `work`, and lets time pass until its promise has settled. Everything that takes time belongs inside: calls of
   * locks, `sleep`, `until`, and the start of an application that uses locks. Inside another `run` it becomes a part of
   * that one.
   * @param withinMs the limit in simulated time, 600 000 by default
   * @throws what `work` throws, or Error when it has not settled in time
   */
  run<T>(work: () => T | PromiseLike<T>, withinMs = WITHIN_MS): Promise<T> {
    this.#checkOpen('run');
    if (typeof work !== 'function') {
      throw new LockConfigurationError('run: must be given a function: simulator.run(async () => { ... })');
    }
    return this.#runs.run(work, checkedMs('run', withinMs));
  }

  /** Resolves after this much simulated time. */
  sleep(durationMs: number): Promise<void> {
    this.#checkCall('sleep');
    checkedMs('sleep', durationMs);
    return new Promise((resolve) => this.#after(durationMs, resolve));
  }

  /**
   * Resolves as soon as the condition holds. The condition is asked after each simulated event.
   * @param withinMs the limit in simulated time, 600 000 by default
   * @throws what the condition throws, or Error when it does not hold in time
   */
  until(condition: () => boolean, withinMs = WITHIN_MS): Promise<void> {
    this.#checkCall('until');
    return this.#runs.until(condition, checkedMs('until', withinMs));
  }

  /**
   * Schedules faults, each at its time from now. All of them are checked first, so that an unknown fault, server or
   * client is told before anything happens. A fault that fails at its time fails the run.
   * @throws LockConfigurationError that names the place in the list and the mistake
   */
  plan(faults: readonly PlannedFault[]): void {
    this.#checkOpen('plan');
    checkPlan(faults, this.#arguments);
    for (const planned of faults) {
      this.#after(planned.atMs, () => this.#runs.failing(() => makeHappen(this.faults, planned)));
    }
  }

  /** Milliseconds since the beginning, on the simulator's clock. */
  now(): number {
    return this.#simulation.now();
  }

  /** A number in [0, 1) drawn from the seed, for a test's own choices that must be the same every time. */
  random(): number {
    return this.#simulation.random.next();
  }

  /** The id of the leading server; undefined while there is none. */
  get leaderId(): number | undefined {
    return this.#simulation.leaderId;
  }

  /** The ids of the servers that follow a leader and serve clients. */
  get followerIds(): readonly number[] {
    return this.#simulation.followerIds;
  }

  /** How many watches the servers keep for all clients together. */
  get watchCount(): number {
    return this.#simulation.watchCount;
  }

  /** How many watch events the servers have sent so far. */
  get notificationCount(): number {
    return this.#simulation.ensemble.traffic.events;
  }

  /**
   * How many requests of a kind have reached the servers so far, including those of the sessions themselves.
   * @throws LockConfigurationError for an unknown kind
   */
  requestCount(kind: Exclude<RequestKind, 'reattach'>): number {
    this.#arguments.checkRequest('requestCount', kind);
    return this.#simulation.ensemble.traffic.requests(kind);
  }

  /**
   * The nodes in the queue of a key, in order, as the leader has them now. The first one holds. `key` includes the
   * namespace.
   * @throws Error while there is no leader
   */
  queue(key: string): readonly string[] {
    const numberOf = (name: string): number => Number(/-?\d+$/.exec(name)?.[0]);
    return this.#simulation.children(key).sort((one, other) => numberOf(one) - numberOf(other));
  }

  /** Ends all faults, releases what clients hold, and stops the servers. After it no timer is left. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.faults.endAll();
    // A killed client answers nothing, so its close would never settle.
    const living = [...this.#clients.values()].filter(({ state }) => state !== 'killed');
    try {
      await this.run(() => Promise.all(living.map(({ locks }) => locks.close(0))));
    } finally {
      this.#isClosed = true;
      this.#simulation.ensemble.stop();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #after(delayMs: number, act: () => void): void {
    const { timeline } = this.#simulation;
    timeline.after(delayMs, () => {
      // What `act` does may let promises go on, and these come before the next event.
      timeline.noteOutsideCall();
      act();
    });
  }

  #checkCall(what: string): void {
    this.#checkOpen(what);
    this.#runs.checkDriven(what);
  }

  #checkOpen(what: string): void {
    if (this.#isClosed) throw new LockConfigurationError(`${what}: this simulator is closed; make another one`);
  }
}

function checkedMs(what: string, value: number): number {
  if (isMilliseconds(value)) return value;
  throw new LockConfigurationError(`${what}: must be given a number of milliseconds, not ${describe(value)}`);
}
