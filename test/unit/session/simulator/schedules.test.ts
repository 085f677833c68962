import { describe, expect, it } from '@jest/globals';
import { create, list, remove } from '../../../../lib/session/requests.js';
import { SeededRandom } from '../../../../lib/session/simulator/time/random.js';
import { SimulatedWorld } from '../../../support/simulation/simulated-world.js';
import { randomHistory } from './support/random-history.js';
import { RawClient } from './support/raw-client.js';

async function traceOf(seed: number | undefined): Promise<string[]> {
  const lines: string[] = [];
  const world = new SimulatedWorld({
    servers: 3,
    clientLatencyMs: [0, 2],
    peerLatencyMs: [0, 2],
    trace: (line) => lines.push(line),
    ...(seed === undefined ? {} : { seed }),
  });
  const clients = [await RawClient.connect(world, 'a', 1), await RawClient.connect(world, 'b', 2)];
  await clients[0]?.ask(create('/q', 'persistent'));
  const asked: Promise<unknown>[] = [];
  for (let round = 0; round < 5; round += 1) {
    for (const client of clients)
      asked.push(client.send(create('/q/n-', 'ephemeral-sequential')), client.send(list('/q')));
    await world.runFor(1);
  }
  for (const client of clients) asked.push(client.send(remove('/q/n-0000000003')).catch(() => undefined));
  await world.settle(Promise.all(asked));
  return lines;
}

describe('a seeded schedule', () => {
  it('is the same for the same seed, message by message', async () => {
    const lines = await traceOf(42);
    expect(lines.length).toBeGreaterThan(40);
    expect(await traceOf(42)).toEqual(lines);
  });

  it('differs from seed to seed', async () => {
    const traces = await Promise.all([1, 2, 3, 4].map(async (seed) => (await traceOf(seed)).join('\n')));
    expect(new Set(traces).size).toBe(4);
  });

  it('is one and the same without a seed', async () => {
    expect(await traceOf(undefined)).toEqual(await traceOf(undefined));
  });

  it('may order what happens at one instant in any way, but never one link’s own frames', async () => {
    const firsts = new Set<string>();
    for (let seed = 0; seed < 20; seed += 1) {
      const world = new SimulatedWorld({ seed });
      const [one, two] = [await RawClient.connect(world, 'a'), await RawClient.connect(world, 'b')];
      await one.ask(create('/q', 'persistent'));
      const asked = [one, two].flatMap((client) =>
        [0, 1, 2].map(() => client.send(create(`/q/${client.process.name}-`, 'ephemeral-sequential'))),
      );
      const created = (await world.settle(Promise.all(asked))) as { path: string }[];
      const numbers = created.map(({ path }) => Number(path.slice(-10)));
      expect([...numbers.slice(0, 3)].sort()).toEqual(numbers.slice(0, 3));
      expect([...numbers.slice(3)].sort()).toEqual(numbers.slice(3));
      firsts.add(numbers[0] === 0 ? 'a' : 'b');
    }
    expect(firsts).toEqual(new Set(['a', 'b']));
  });

  // Ten at a time, as a loaded machine takes a minute for all of them.
  it.each([0, 10, 20, 30, 40, 50, 60, 70, 80, 90])(
    'keeps what ZooKeeper promises through random histories of faults, ten from %d on',
    async (firstSeed) => {
      let acknowledged = 0;
      for (let seed = firstSeed; seed < firstSeed + 10; seed += 1) acknowledged += await randomHistory(seed);
      expect(acknowledged).toBeGreaterThan(100);
    },
  );
});

describe('seeded numbers', () => {
  it('fill the unit interval evenly', () => {
    const random = new SeededRandom(1);
    const buckets = new Array<number>(10).fill(0);
    for (let draw = 0; draw < 10_000; draw += 1) {
      const bucket = Math.floor(random.next() * 10);
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
    }
    for (const count of buckets) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });

  it('shuffle without loss', () => {
    const items = Array.from({ length: 50 }, (_, index) => index);
    const shuffled = new SeededRandom(3).shuffled(items);
    expect(shuffled).not.toEqual(items);
    expect(shuffled.sort((one, other) => one - other)).toEqual(items);
  });
});
