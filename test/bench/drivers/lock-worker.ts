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

class Contest<Held> {
  readonly #driver: LockDriver<Held>;

  constructor(driver: LockDriver<Held>) {
    this.#driver = driver;
  }

  /** One after the other on one key: how long an acquire takes that nobody is in the way of. */
  async alone(key: string, durationMs: number): Promise<Record<string, number>> {
    await this.#driver.prepare(key);
    const tookMs: number[] = [];
    const endsAt = performance.now() + durationMs;
    for (let startedAt = performance.now(); startedAt < endsAt; startedAt = performance.now()) {
      const held = await this.#driver.acquire(key);
      tookMs.push(performance.now() - startedAt);
      await this.#driver.release(held);
    }
    tookMs.sort((left, right) => left - right);
    return { p50: percentile(tookMs, 0.5), p99: percentile(tookMs, 0.99) };
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
      case 'alone':
        return this.alone(key!, first);
      case 'spread':
        return this.spread(key!, first, second);
      case 'crowd':
        return this.crowd(key!, first, second);
      default:
        throw new Error(`no such command: ${command}`);
    }
  }
}

function answer(...words: readonly string[]): void {
  process.stdout.write(`${words.join('\t')}\n`);
}

const contests: Record<string, Pick<Contest<unknown>, 'obey'>> = {
  ours: new Contest(await connectLocks(connect)),
  floor: new Contest(await connectFloor(connect)),
};
if (redisPort !== undefined) contests['redlock'] = new Contest(await connectRedlock(Number(redisPort)));
answer('start', 'ok');
for await (const line of createInterface({ input: process.stdin })) {
  const [id = '', name = '', ...words] = line.split('\t');
  try {
    const contest = contests[name];
    if (contest === undefined) throw new Error(`no such contestant: ${name}`);
    const figures = await contest.obey(words);
    answer(id, 'ok', ...Object.entries(figures).map(([figure, value]) => `${figure}=${value}`));
  } catch (error) {
    answer(id, 'failed', String(error).replaceAll(/\s+/g, ' '));
  }
}
