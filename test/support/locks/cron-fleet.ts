import { eventually } from '../process/eventually.js';
import { type NodeChild, ofType, startNodeChild } from '../process/node-child.js';
import { shiftedClock } from '../clocks/shifted-clock.js';

/** The clocks of three instances, by which an occurrence is 800 ms long. */
const CLOCKS_MS = [0, 400, -400] as const;
const SPREAD_MS = 800;
const PERIOD_MS = 2_000;
/** In the middle between how far the clocks differ and the next occurrence: so much may an instance be late. */
const AT_LEAST_MS = (SPREAD_MS + PERIOD_MS) / 2;
const MOST_LATE_MS = (PERIOD_MS - SPREAD_MS) / 2 - 100;
const MOST_PLAYS = 3;
const WITH = '/jobs/with';

interface Start {
  readonly type: 'answered';
  readonly key: string;
  readonly tick: number;
  readonly lateMs: number;
}

interface Run {
  readonly type: 'runs';
  readonly job: 'with' | 'without';
  readonly tick: number;
}

export interface Occurrences {
  /** How often the job ran at each tick. */
  readonly with: readonly number[];
  readonly without: readonly number[];
}

/** Three instances with clocks that differ start two jobs of 20 ms every two seconds, one with `atLeastMs`. */
export class CronFleet {
  #instances: NodeChild[] = [];

  async start(connect: string): Promise<void> {
    const script = new URL('./cron-process.ts', import.meta.url);
    const args = [connect, String(AT_LEAST_MS), String(PERIOD_MS)];
    const starts = CLOCKS_MS.map(async (byMs) => startNodeChild(script, { args, env: await shiftedClock(byMs) }));
    this.#instances = await Promise.all(starts);
    await Promise.all(this.#instances.map((instance) => instance.next('ready', ofType('ready'))));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#instances.map((instance) => instance.kill()));
  }

  /** Where an instance was late by more than the option leaves room for, the machine shows nothing, and it is played again. */
  async play(ticks: number): Promise<Occurrences> {
    for (let plays = 1; plays <= MOST_PLAYS; plays += 1) {
      const first = Math.floor(Date.now() / PERIOD_MS) + 2;
      const numbers = Array.from({ length: ticks }, (_, index) => first + index);
      await this.#untilAnswered(first + ticks);
      // A run that began late in the tick before may have taken the first one.
      if ([first - 1, ...numbers].every((tick) => this.#wereInTime(tick)))
        return { with: this.#runsAt(numbers, 'with'), without: this.#runsAt(numbers, 'without') };
    }
    throw new Error(`The instances are late by more than ${MOST_LATE_MS} ms again and again.`);
  }

  /** The ticks before this one are over for an instance when it has been answered at this one. */
  async #untilAnswered(tick: number): Promise<void> {
    const isOver = (): boolean => this.#instances.every((one) => this.#starts(one).some((start) => start.tick >= tick));
    const withinMs = 10_000 + tick * PERIOD_MS - Date.now();
    await eventually(`tick ${tick} is over`, isOver, { withinMs, everyMs: 50, giveUp: () => this.#trouble() });
  }

  #wereInTime(tick: number): boolean {
    return this.#instances.every((one) => {
      const [start, second] = this.#starts(one).filter((answered) => answered.tick === tick);
      return start !== undefined && second === undefined && start.lateMs <= MOST_LATE_MS;
    });
  }

  #starts(instance: NodeChild): Start[] {
    return instance.messages.filter(ofType('answered')).filter(({ key }) => key === WITH) as unknown as Start[];
  }

  #runsAt(ticks: readonly number[], wanted: Run['job']): number[] {
    const runs = this.#instances.flatMap(({ messages }) => messages.filter(ofType('runs')) as unknown as Run[]);
    return ticks.map((number) => runs.filter(({ job, tick }) => job === wanted && tick === number).length);
  }

  #trouble(): Error | undefined {
    const [trouble] = this.#instances.flatMap(({ messages }) => messages.filter(ofType('trouble')));
    return trouble && new Error(`An instance is in trouble: ${String(trouble['event'])}`);
  }
}
