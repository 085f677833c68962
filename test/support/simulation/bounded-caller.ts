import type { AcquireOptions } from '../../../lib/lock/acquire-options.js';
import { SeededRandom } from '../../../lib/session/simulator/time/random.js';
import { AskedCall } from './asked-call.js';
import type { Caller } from './caller.js';

/** How the callers of a schedule bound the queues that they join. */
export interface BoundUse {
  /** The part of the calls that do so; the others meet them at the same keys. */
  readonly part: number;
  readonly bounds: readonly number[];
}

/** What a lock is asked for. */
export interface Question {
  readonly key: string;
  /** It never waits, so a bound means nothing to it. */
  readonly tries?: boolean;
}

/** Drawn from a source of its own, so all other schedules are those that they were before there were bounds. */
export function drawBoundUse(seed: number): BoundUse | undefined {
  const random = new SeededRandom(seed).fork('max waiting');
  if (random.next() >= 0.25) return undefined;
  return {
    part: [0.5, 1, 1][random.integer(3)]!,
    bounds: [
      [0, 1],
      [1, 2],
      [0, 1, 2, 3],
    ][random.integer(3)]!,
  };
}

/** What a caller does with `maxWaiting`, where its schedule uses that. */
export class BoundedCaller {
  readonly #random: SeededRandom;
  #calls = 0;

  constructor(private readonly caller: Caller) {
    this.#random = caller.schedule.random.fork(`${caller.app.name} ${caller.name} max waiting`);
  }

  /** Draws how many it bears in front of it. Each call has a label, by which its contenders are known. */
  ask({ key, tries }: Question, options: AcquireOptions): { options: AcquireOptions; asked: AskedCall } | undefined {
    const { schedule, app, name } = this.caller;
    const use = schedule.scenario.maxWaiting;
    if (use === undefined) return undefined;
    this.#calls += 1;
    const { mode = 'exclusive', label = `${app.name} ${name} asks ${this.#calls}` } = options;
    const isBounded = this.#random.next() < use.part;
    const maxWaiting = isBounded ? use.bounds[this.#random.integer(use.bounds.length)]! : Infinity;
    const bound = isBounded && tries !== true ? maxWaiting : undefined;
    const asked = new AskedCall(app, schedule.queuePath(key), mode, label, bound);
    schedule.fullQueues.asks(asked);
    return { options: { ...options, label, maxWaiting }, asked };
  }
}
