import { LockConfigurationError } from '../../lock/errors.js';
import type { Simulation } from '../../session/simulator/simulation.js';

/** A call of `until` that waits for its condition. */
interface Waiter {
  readonly condition: () => boolean;
  readonly limitAt: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Keeps the time of a simulation going while calls of `run` have not settled. */
export class Runs {
  readonly #simulation: Simulation;
  readonly #isVirtual: boolean;
  readonly #seed: number | undefined;
  #underWay = new Set<symbol>();
  readonly #waiters = new Set<Waiter>();
  #isDriving = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(simulation: Simulation, isVirtual: boolean, seed: number | undefined) {
    this.#simulation = simulation;
    this.#isVirtual = isVirtual;
    this.#seed = seed;
  }

  /** @throws LockConfigurationError where the call would wait for ever */
  checkDriven(what: string): void {
    if (!this.#isVirtual || this.#underWay.size > 0) return;
    throw new LockConfigurationError(
      `${what}: the simulated clock stands still here, so nobody would ever answer. Call it inside ` +
        '`await simulator.run(async () => { ... })`, which lets time pass until the work has settled; or make the ' +
        "simulator with { clock: 'real' }",
    );
  }

  async run<T>(work: () => T | PromiseLike<T>, withinMs: number): Promise<T> {
    const mark = Symbol('run');
    const isOuter = !this.#isDriving;
    // The synchronous beginning of the work is inside the run already.
    this.#isDriving = true;
    this.#underWay.add(mark);
    const running = (async () => work())().finally(() => this.#underWay.delete(mark));
    // The outer run lets time pass for both.
    if (!isOuter) return running;
    // The promise is returned below, unless something else ends the run first.
    running.catch(() => undefined);
    try {
      await this.#drive(withinMs);
    } finally {
      this.#isDriving = false;
      this.#underWay.clear();
    }
    return running;
  }

  until(condition: () => boolean, withinMs: number): Promise<void> {
    const limitAt = this.#simulation.now() + withinMs;
    return new Promise((resolve, reject) => {
      const waiter = { condition, limitAt, resolve, reject };
      this.#waiters.add(waiter);
      // Without an event at that time the clock would jump over it. On the real clock nobody else may be looking.
      this.#simulation.timeline.after(withinMs, () => this.#simulation.timeline.noteOutsideCall());
      if (!this.#isDriving) void this.#simulation.drive(() => this.#look(waiter), withinMs + 1);
    });
  }

  /** Runs something whose end nobody awaits. Its error fails the run. */
  failing(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  async #drive(withinMs: number): Promise<void> {
    const limitAt = this.#simulation.now() + withinMs;
    for (;;) {
      const inTime = await this.#simulation.drive(
        () => this.#failure !== undefined || this.#underWay.size === 0 || this.#isAnySatisfied(),
        Math.max(0, limitAt - this.#simulation.now()),
      );
      const failure = this.#failure;
      this.#failure = undefined;
      if (failure !== undefined) throw failure.error;
      if (this.#underWay.size === 0) return;
      if (!inTime) throw new Error(this.#notSettled(withinMs));
      // Waiters that were told now get their turn before the next event, because each drive begins with it.
    }
  }

  #isAnySatisfied(): boolean {
    return [...this.#waiters].filter((waiter) => this.#look(waiter)).length > 0;
  }

  /** @returns whether this waiter has been told, and so waits no longer */
  #look(waiter: Waiter): boolean {
    const isLate = this.#simulation.now() >= waiter.limitAt;
    let settle: (() => void) | undefined;
    try {
      if (waiter.condition()) settle = waiter.resolve;
      else if (isLate)
        settle = () =>
          waiter.reject(new Error(`until: the condition did not hold in time: ${waiter.condition.toString()}`));
    } catch (error) {
      settle = () => waiter.reject(error);
    }
    if (settle === undefined) return false;
    // The waiter leaves the set first, so that nothing it starts can settle it again.
    this.#waiters.delete(waiter);
    settle();
    return true;
  }

  #notSettled(withinMs: number): string {
    const seed = this.#seed === undefined ? '' : ` (seed ${this.#seed})`;
    return (
      `run: the work has not settled within ${withinMs} ms of simulated time${seed}. It waits for a lock that nobody releases, for a ` +
      'client that is paused or was killed, or for a timer, a socket or a file of the machine, for which simulated time does not ' +
      "wait. For those use { clock: 'real' }"
    );
  }
}
