import { describe, expect, it } from '@jest/globals';
import { create, exists, get, set } from '../../../../lib/session/requests.js';
import { SimulatedWorld } from '../../../support/simulation/simulated-world.js';
import { RawClient, WATCH } from './support/raw-client.js';

async function given() {
  const world = new SimulatedWorld({ tickMs: 500 });
  const client = await RawClient.connect(world, 'a', 1, { timeoutMs: 2_000 });
  await client.ask(create('/x', 'persistent'));
  return { world, client, process: world.process('a') };
}

describe('a simulated process', () => {
  it('runs overdue timers first, in order, after it stood still, then what has arrived', async () => {
    const { world, client, process } = await given();
    const order: string[] = [];
    await client.ask(get('/x', WATCH));
    process.clock.setTimer(800, () => order.push(`late timer, ${client.events.length} events`));
    process.clock.setTimer(300, () => order.push(`early timer, ${client.events.length} events`));
    process.clock.setTimer(5_000, () => order.push('timer not yet due'));
    process.pause();
    const writer = await RawClient.connect(world, 'b');
    await writer.ask(set('/x', Buffer.from('1')));
    await world.runFor(1_000);
    expect({ order, events: client.events }).toEqual({ order: [], events: [] });
    process.resume();
    await world.runUntil(() => client.events.length === 1, 0);
    expect(order).toEqual(['early timer, 0 events', 'late timer, 0 events']);
  });

  it('gives promises their turn between one overdue timer and the next', async () => {
    const { world, process } = await given();
    const order: string[] = [];
    for (const name of ['one', 'two']) {
      process.clock.setTimer(10, () => {
        order.push(name);
        void Promise.resolve()
          .then(() => undefined)
          .then(() => order.push(`then ${name}`));
      });
    }
    process.pause();
    await world.runFor(50);
    process.resume();
    await world.runFor(0);
    expect(order).toEqual(['one', 'then one', 'two', 'then two']);
  });

  it('sees time go on while it stands still, and keeps its link', async () => {
    const { world, client, process } = await given();
    const before = process.clock.now();
    process.pause();
    await world.runFor(1_000);
    process.resume();
    expect(process.clock.now()).toBe(before + 1_000);
    expect(await client.errorOf(exists('/x'))).toBe(0);
  });

  it('has lost its session after it stood still for too long, and learns of it after its timers', async () => {
    const { world, client, process } = await given();
    await client.ask(create('/e', 'ephemeral'));
    let wasClosedAtTimer: boolean | undefined;
    process.clock.setTimer(100, () => {
      wasClosedAtTimer = client.closed !== undefined;
    });
    process.pause();
    await world.runFor(4_000);
    expect(world.stat('/e')).toBeUndefined();
    process.resume();
    await world.runUntil(() => client.closed !== undefined, 0);
    expect(wasClosedAtTimer).toBe(false);
  });

  it('can stop and continue again and again without losing or reordering anything', async () => {
    const { world, process } = await given();
    const order: number[] = [];
    for (let number = 0; number < 20; number += 1) {
      process.clock.setTimer(number, () => {
        order.push(number);
        if (number % 3 === 0) {
          process.pause();
          process.resume();
        }
        if (number % 5 === 0) process.pause();
      });
    }
    for (let round = 0; round < 10; round += 1) {
      await world.runFor(50);
      process.resume();
    }
    await world.runFor(50);
    expect(order).toEqual(Array.from({ length: 20 }, (_, number) => number));
  });

  it('never runs again once it is killed, and the server sees its connection close', async () => {
    const { world, client, process } = await given();
    await client.ask(get('/x', WATCH));
    await client.ask(create('/e', 'ephemeral'));
    let hasRun = false;
    process.clock.setTimer(10, () => {
      hasRun = true;
    });
    const logged = client.log.length;
    process.kill();
    await world.runUntil(() => world.watchCount === 0, 100);
    expect(world.stat('/e')).toBeDefined();
    await world.runFor(5_000);
    expect(world.stat('/e')).toBeUndefined();
    expect({ hasRun, logged: client.log.length }).toEqual({ hasRun: false, logged });
  });

  it('draws the same random numbers whatever other processes do', () => {
    const [one, two] = [new SimulatedWorld({ seed: 7 }), new SimulatedWorld({ seed: 7 })];
    two.process('other').random();
    expect(one.process('a').random()).toBe(two.process('a').random());
    expect(one.process('a').random()).not.toBe(one.process('b').random());
  });
});
