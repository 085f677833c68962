import { afterEach, describe, expect, it } from '@jest/globals';
import type { LockEvent } from '../../../../lib/lock/events.js';
import { LockSimulator, type LockSimulatorOptions } from '../../../../lib/extras/simulator/index.js';

const open: LockSimulator[] = [];

function simulatorOf(options?: LockSimulatorOptions): LockSimulator {
  const simulator = new LockSimulator(options);
  open.push(simulator);
  return simulator;
}

afterEach(() => Promise.all(open.splice(0).map((simulator) => simulator.close())));

describe('a simulator', () => {
  it('gives each client a lock service of its own, and they stand in one queue', async () => {
    const simulator = simulatorOf();
    const [a, b] = [simulator.client('a'), simulator.client('b')];

    await simulator.run(async () => {
      const first = await a.locks.acquire('/locks/x');
      const second = b.locks.acquire('/locks/x');
      await simulator.until(() => simulator.queue('/locks/x').length === 2);
      await first.release();
      const lock = await second;
      expect(lock.fencingToken > first.fencingToken).toBe(true);
      expect(simulator.queue('/locks/x').map((name) => `/locks/x/${name}`)).toEqual([lock.nodePath]);
    });
  });

  it('lets minutes pass in no time, and only inside run', async () => {
    const simulator = simulatorOf();
    const startedAt = performance.now();
    const before = simulator.now();

    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(simulator.now()).toBe(before);
    await simulator.run(() => simulator.sleep(300_000));

    expect(simulator.now() - before).toBe(300_000);
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });

  it('tells a client that stood still that its lock is over, and the next one has it by then', async () => {
    const simulator = simulatorOf({ servers: 3 });
    const [a, b] = [simulator.client('a', { sessionTimeoutMs: 8_000 }), simulator.client('b')];

    await simulator.run(async () => {
      const held = await a.locks.acquire('/locks/x');
      simulator.faults.pauseClient(a);
      const next = await b.locks.acquire('/locks/x');
      expect([a.state, held.isHeld(), next.isHeld()]).toEqual(['paused', false, true]);
      simulator.faults.resumeClient('a');
      await simulator.until(() => held.signal.aborted);
      expect(held.signal.reason).toMatchObject({ code: 'LOCK_LOST' });
    });
  });

  it('shows who holds by the name of the client, and for how long by its own clock', async () => {
    const simulator = simulatorOf();
    await simulator.run(async () => {
      const { locks, sleep } = bound(simulator, 'a');
      await locks.acquire('/locks/x');
      await sleep(30_000);
      const { holders } = await locks.inspect('/locks/x');
      expect(holders).toMatchObject([{ client: { host: 'a', pid: 1 } }]);
      expect(Math.round(holders[0]!.ageMs / 1_000)).toBe(30);
      expect(holders[0]!.client!.askedAt!.getTime() - holders[0]!.since.getTime()).toBeLessThan(1_000);
    });
  });

  it('runs one run inside another as a part of it, and several side by side', async () => {
    const simulator = simulatorOf();
    const { locks } = simulator.client('a');
    const hold = (key: string) => simulator.run(() => locks.withLock(key, () => simulator.sleep(1_000)));
    await simulator.run(async () => {
      await hold('/locks/x');
      await simulator.run(() => simulator.sleep(500));
    });
    await Promise.all([hold('/locks/x'), hold('/locks/y'), simulator.run(() => simulator.sleep(5_000))]);
    expect(simulator.now()).toBeGreaterThan(6_500);
  });

  it('counts what clients ask and what they are told: one delete and one event for a hand-over', async () => {
    const simulator = simulatorOf();
    const [a, b] = [simulator.client('a'), simulator.client('b')];
    await simulator.run(async () => {
      const lock = await a.locks.acquire('/locks/x');
      const waiting = b.locks.acquire('/locks/x');
      await simulator.sleep(100);
      const before = [simulator.requestCount('delete'), simulator.notificationCount];
      await lock.release();
      await waiting;
      expect([simulator.requestCount('delete'), simulator.notificationCount]).toEqual(before.map((count) => count + 1));
    });
  });

  it('gives locks of the process alone when the servers are away and that was asked for', async () => {
    const simulator = simulatorOf();
    const { locks } = simulator.client('a', { whenUnavailable: 'local' });
    await simulator.run(async () => {
      await locks.withLock('/locks/x', (lock) => expect(lock.scope).toBe('fleet'));
      simulator.faults.killServer(1);
      await simulator.until(() => locks.connectionState === 'lost');
      await locks.withLock('/locks/x', (lock) => expect(lock.scope).toBe('process'));
      simulator.faults.startServer(1);
      await simulator.until(() => locks.connectionState === 'reconnected');
      await locks.withLock('/locks/x', (lock) => expect(lock.scope).toBe('fleet'));
    });
  });

  it('leaves no node and no watch behind when it is closed with a lock in use', async () => {
    const simulator = new LockSimulator({ servers: 3 });
    await simulator.run(async () => {
      await simulator.client('a').locks.acquire('/locks/x');
      simulator
        .client('b')
        .locks.acquire('/locks/x')
        .catch(() => undefined);
      await simulator.until(() => simulator.queue('/locks/x').length === 2);
      simulator.faults.stallLink('b');
    });
    await simulator.close();
    await simulator.close();
    expect(simulator.watchCount).toBe(0);
  });
});

function bound(simulator: LockSimulator, name: string) {
  const client = simulator.client(name);
  return { locks: client.locks, sleep: (ms: number) => client.sleep(ms) };
}

describe('a seed', () => {
  /** What three clients and some bad luck come to. */
  async function play(seed: number): Promise<{ readonly messages: string[]; readonly events: string[] }> {
    const messages: string[] = [];
    const events: string[] = [];
    await using simulator = new LockSimulator({ seed, servers: 3, trace: (line) => messages.push(line) });
    const clients = ['a', 'b', 'c'].map((name) => simulator.client(name));
    const note = (event: LockEvent): unknown => events.push(`${simulator.now()} ${event.type} ${event.key}`);
    for (const { locks } of clients) locks.events$.subscribe(note);
    await simulator.run(async () => {
      const working = clients.map(async ({ locks }) => {
        for (let round = 0; round < 3; round += 1) {
          await locks.withLock('/locks/x', () => simulator.sleep(simulator.random() * 500)).catch(() => undefined);
        }
      });
      await simulator.sleep(200);
      simulator.faults.cutLink(clients[Math.floor(simulator.random() * 3)]!);
      simulator.faults.restartServer(simulator.leaderId!);
      await Promise.all(working);
    });
    return { messages, events };
  }

  it('replays the same run, message by message', async () => {
    const [first, again] = [await play(4711), await play(4711)];
    expect(first.messages.length).toBeGreaterThan(100);
    expect(again.events).toEqual(first.events);
    expect(again.messages).toEqual(first.messages);
  });

  it('plays another run than another number', async () => {
    const runs = await Promise.all([1, 2, 3].map((seed) => play(seed)));
    expect(new Set(runs.map(({ events }) => events.join('\n'))).size).toBe(3);
  });
});

describe('a simulator on the real clock', () => {
  it('answers without run, and takes the time that the machine takes', async () => {
    const simulator = simulatorOf({ clock: 'real', tickMs: 200 });
    const [a, b] = ['a', 'b'].map((name) => simulator.client(name, { sessionTimeoutMs: 2_000 }));
    const held = await a!.locks.acquire('/locks/x');
    const startedAt = performance.now();
    simulator.faults.killClient(a!);
    const next = await b!.locks.acquire('/locks/x');

    expect(performance.now() - startedAt).toBeGreaterThan(1_000);
    expect(next.fencingToken > held.fencingToken).toBe(true);
    await next.release();
  });

  it('runs what was written for the virtual clock', async () => {
    const simulator = simulatorOf({ clock: 'real', servers: 3, tickMs: 1_000 });
    const { locks } = simulator.client('a', { sessionTimeoutMs: 10_000 });
    await simulator.run(async () => {
      const lock = await locks.acquire('/locks/x');
      simulator.faults.refuseLinks('a');
      await simulator.until(() => locks.connectionState === 'suspended');
      simulator.plan([{ atMs: 20, fault: 'acceptLinks', with: ['a'] }]);
      await simulator.until(() => lock.signal.aborted || locks.connectionState === 'reconnected');
      await simulator.sleep(10);
    });
    await simulator.until(() => locks.connectionState === 'reconnected');
  });
});
