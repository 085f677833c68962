import { createInterface } from 'node:readline';
import { connectFloor, connectLocks, type LockDriver } from './lock-driver.js';
import { connectRedlock } from './redlock.js';

/**
 * The contestants that run in Node, told what to do by lines as the neighbours are, behind the name of the one that is
 * meant. All live in one process: where the system lets a process run makes a difference of a third between two of them
 * that do the same. The siblings in Java and Python do the same in the same way, and all take the time by themselves.
 */
const [connect, redisPort] = process.argv.slice(2) as [string, string?];

function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.floor(sorted.length * part)] ?? Number.NaN;
}

/** Contestants that are measured together change places after so many cycles. */
const CYCLES_IN_A_ROW = 20;

class Contest<Held> {
  readonly #driver: LockDriver<Held>;

  constructor(driver: LockDriver<Held>) {
    this.#driver = driver;
  }

  /** Makes the key ready. @returns cycles on it, one after the other, that add to `tookMs` how long each acquire took */
  async cyclesOn(key: string, tookMs: number[]): Promise<(cycles: number) => Promise<void>> {
    await this.#driver.prepare(key);
    return async (cycles) => {
      for (let cycle = 0; cycle < cycles; cycle += 1) {
        const startedAt = performance.now();
        const held = await this.#driver.acquire(key);
        tookMs.push(performance.now() - startedAt);
        await this.#driver.release(held);
      }
    };
  }

  /** So many loops at once, each on a key of its own. */
  async spread(root: string, ways: number, durationMs: number): Promise<Record<string, number>> {
    const keys = Array.from({ length: ways }, (_, way) => `${root}/${way}`);
    await this.#driver.prepare(root);
    await Promise.all(keys.map((key) => this.#driver.prepare(key)));
    let cycles = 0;
    const cpuBefore = process.cpuUsage();
    const startedAt = performance.now();
    await Promise.all(
      keys.map(async (key) => {
        while (performance.now() - startedAt < durationMs) {
          await this.#driver.release(await this.#driver.acquire(key));
          cycles += 1;
        }
      }),
    );
    const tookMs = performance.now() - startedAt;
    const cpu = process.cpuUsage(cpuBefore);
    return { cyclesPerSecond: (cycles / tookMs) * 1_000, cpuMicrosPerCycle: (cpu.user + cpu.system) / cycles };
  }

  /**
   * So many contenders on one key, while the time runs: how often one of them entered, how often that was another one than
   * the last, and how often the least and the most fortunate did.
   */
  async crowd(key: string, contenders: number, durationMs: number): Promise<Record<string, number>> {
    const entered = Array.from({ length: contenders }, () => 0);
    let handed = 0;
    let last: number | undefined;
    const endsAt = performance.now() + durationMs;
    const contend = async (_count: number, number: number): Promise<void> => {
      while (performance.now() < endsAt) {
        const held = await this.#driver.acquire(key);
        if (performance.now() < endsAt) {
          entered[number]! += 1;
          if (last !== number) handed += 1;
          last = number;
        }
        await this.#driver.release(held);
      }
    };
    await Promise.all(entered.map(contend));
    const sum = entered.reduce((total, count) => total + count, 0);
    return { entered: sum, handed, fewest: Math.min(...entered), most: Math.max(...entered) };
  }

  obey([command, key, ...numbers]: readonly string[]): Promise<Record<string, number>> {
    const [first, second] = numbers.map(Number) as [number, number];
    switch (command) {
      case 'spread':
        return this.spread(key!, first, second);
      case 'crowd':
        return this.crowd(key!, first, second);
      default:
        throw new Error(`no such command: ${command}`);
    }
  }
}

/**
 * One after the other, each on a key of its own: how long an acquire takes that nobody is in the way of. Several contestants
 * change places all the time, so that each meets the same moods of the machine.
 */
async function alone(names: readonly string[], root: string, durationMs: number): Promise<Record<string, number>> {
  const taken = names.map((): number[] => []);
  const runs = await Promise.all(
    names.map((name, index) => contestOf(name).cyclesOn(`${root}-${name}`, taken[index]!)),
  );
  const endsAt = performance.now() + durationMs;
  while (performance.now() < endsAt) for (const run of runs) await run(CYCLES_IN_A_ROW);
  const figures: Record<string, number> = {};
  for (const [index, name] of names.entries()) {
    const sorted = taken[index]!.sort((left, right) => left - right);
    figures[`${name}.p50`] = percentile(sorted, 0.5);
    figures[`${name}.p99`] = percentile(sorted, 0.99);
  }
  return figures;
}

function contestOf(name: string): Contest<unknown> {
  const contest = contests[name];
  if (contest === undefined) throw new Error(`no such contestant: ${name}`);
  return contest;
}

function answer(...words: readonly string[]): void {
  process.stdout.write(`${words.join('\t')}\n`);
}

// Nobody looks at what a contestant's `acquire` returns: it goes back into its own `release`.
const contest = <Held>(driver: LockDriver<Held>): Contest<unknown> => new Contest(driver);
const contests: Record<string, Contest<unknown>> = {
  ours: contest(await connectLocks(connect)),
  recorded: contest(await connectLocks(connect, { onAbandoned: 'enter' })),
  floor: contest(await connectFloor(connect)),
};
if (redisPort !== undefined) contests['redlock'] = contest(await connectRedlock(Number(redisPort)));
answer('start', 'ok');
for await (const line of createInterface({ input: process.stdin })) {
  const [id = '', name = '', ...words] = line.split('\t');
  try {
    const [command, root = '', durationMs] = words;
    const figures =
      command === 'alone' ? await alone(name.split('+'), root, Number(durationMs)) : await contestOf(name).obey(words);
    answer(id, 'ok', ...Object.entries(figures).map(([figure, value]) => `${figure}=${value}`));
  } catch (error) {
    answer(id, 'failed', String(error).replaceAll(/\s+/g, ' '));
  }
}
