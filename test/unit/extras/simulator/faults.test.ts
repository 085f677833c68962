import { describe, expect, it } from '@jest/globals';
import {
  LockSimulator,
  type LockSimulatorOptions,
  type PlannedFault,
  type SimulatedClient,
  SimulatorFaults,
} from '../../../../lib/extras/simulator/index.js';

interface Scene {
  readonly simulator: LockSimulator;
  readonly faults: SimulatorFaults;
  readonly a: SimulatedClient;
  readonly b: SimulatedClient;
  /** Lets time pass until the client is in this state. */
  readonly until: (client: SimulatedClient, state: SimulatedClient['locks']['connectionState']) => Promise<void>;
}

/** Two clients that are connected, in a run. */
async function play(
  work: (scene: Scene) => Promise<void>,
  options: LockSimulatorOptions = { servers: 3 },
): Promise<void> {
  await using simulator = new LockSimulator(options);
  const [a, b] = [simulator.client('a'), simulator.client('b', { waitMs: 60_000 })];
  const until: Scene['until'] = ({ locks }, state) => simulator.until(() => locks.connectionState === state);
  await simulator.run(async () => {
    await Promise.all([until(a, 'connected'), until(b, 'connected')]);
    await work({ simulator, faults: simulator.faults, a, b, until });
  });
}

/** How long a lock takes, in simulated time. */
async function takes(simulator: LockSimulator, { locks }: SimulatedClient, key = '/locks/x'): Promise<number> {
  const startedAt = simulator.now();
  const lock = await locks.acquire(key);
  const tookMs = simulator.now() - startedAt;
  await lock.release();
  return tookMs;
}

describe('a client with the fault', () => {
  it('cutLink: the session survives, and its lock', () =>
    play(async ({ faults, a, until }) => {
      const lock = await a.locks.acquire('/locks/x');
      const { sessionId } = a.locks;
      faults.cutLink(a);
      await until(a, 'suspended');
      await until(a, 'reconnected');
      expect([a.locks.sessionId, lock.isHeld()]).toEqual([sessionId, true]);
    }));

  it('refuseLinks, acceptLinks: the lock is lost when S is over, and free for the next', () =>
    play(async ({ simulator, faults, a, b, until }) => {
      const lock = await a.locks.acquire('/locks/x');
      faults.refuseLinks(a);
      await until(a, 'suspended');
      expect(lock.isHeld()).toBe(true);
      const next = await b.locks.acquire('/locks/x');
      expect([lock.isHeld(), next.isHeld()]).toEqual([false, true]);
      await simulator.sleep(60_000);
      expect(a.connectedTo).toEqual([]);
      faults.acceptLinks(a);
      await until(a, 'reconnected');
      expect(a.connectedTo).toHaveLength(1);
    }));

  it('stallLink, resumeLink: nobody is told, and nothing is lost', () =>
    play(async ({ simulator, faults, a }) => {
      faults.stallLink(a, 'to-client');
      const startedAt = simulator.now();
      const acquiring = a.locks.acquire('/locks/x');
      await simulator.until(() => simulator.queue('/locks/x').length === 1);
      await simulator.sleep(500);
      expect(a.locks.connectionState).toBe('connected');
      faults.resumeLink(a);
      await acquiring;
      expect(simulator.now() - startedAt).toBeGreaterThan(500);
    }));

  it('loseNextReply: what was carried out is found again, and leaves nothing behind', () =>
    play(async ({ simulator, faults, a }) => {
      const loss = faults.loseNextReply(a, 'create');
      expect(loss.hasHappened).toBe(false);
      const lock = await a.locks.acquire('/locks/x');
      expect([loss.hasHappened, simulator.queue('/locks/x').length]).toEqual([true, 1]);
      await lock.release();
      expect(simulator.queue('/locks/x')).toEqual([]);
    }));

  it('loseNextRequest: what never arrived is asked again', () =>
    play(async ({ simulator, faults, a, b }) => {
      await b.locks.withLock('/locks/x', () => undefined);
      const loss = faults.loseNextRequest('a', 'create');
      await a.locks.acquire('/locks/x');
      expect([loss.hasHappened, simulator.queue('/locks/x').length]).toEqual([true, 1]);
    }));

  it('delayWatchEvents: a hand-over comes later, and its lock is free meanwhile', () =>
    play(async ({ simulator, faults, a, b }) => {
      const lock = await a.locks.acquire('/locks/x');
      const waiting = b.locks.acquire('/locks/x');
      await simulator.until(() => simulator.watchCount > 0 && simulator.queue('/locks/x').length === 2);
      await simulator.sleep(100);
      faults.delayWatchEvents(b, 700);
      await lock.release();
      const releasedAt = simulator.now();
      await waiting;
      expect(simulator.now() - releasedAt).toBeGreaterThan(690);
    }));

  it('setLatency: this client alone is far away', () =>
    play(async ({ simulator, faults, a, b }) => {
      faults.setLatency(a, [100, 120]);
      expect(await takes(simulator, a)).toBeGreaterThan(200);
      expect(await takes(simulator, b)).toBeLessThan(50);
      faults.setLatency(a, undefined);
      await simulator.sleep(1_000);
      expect(await takes(simulator, a)).toBeLessThan(50);
    }));

  it('expireSession: its locks are free at once, and it goes on with another session', () =>
    play(async ({ faults, simulator, a, b, until }) => {
      const lock = await a.locks.acquire('/locks/x');
      const { sessionId } = a.locks;
      faults.expireSession(a);
      expect(await takes(simulator, b)).toBeLessThan(100);
      await until(a, 'reconnected');
      expect(lock.isHeld()).toBe(false);
      expect(a.locks.sessionId).not.toBe(sessionId);
    }));

  it('pauseClient, resumeClient: its own time stands still', () =>
    play(async ({ simulator, faults, a }) => {
      let woken = false;
      void a.sleep(10).then(() => (woken = true));
      faults.pauseClient(a);
      await simulator.sleep(1_000);
      expect([a.state, woken]).toEqual(['paused', false]);
      faults.resumeClient(a);
      await simulator.sleep(1);
      expect([a.state, woken]).toEqual(['running', true]);
    }));

  it('killClient: its session ends by time-out, not before', () =>
    play(async ({ simulator, faults, a, b }) => {
      await a.locks.acquire('/locks/x');
      faults.killClient(a);
      expect(a.state).toBe('killed');
      const tookMs = await takes(simulator, b);
      expect(tookMs).toBeGreaterThan(8_000);
      expect(tookMs).toBeLessThan(14_100);
    }));
});

describe('servers with the fault', () => {
  it('killServer, startServer, restartServer: another one leads, and the locks stay', () =>
    play(async ({ simulator, faults, a }) => {
      const lock = await a.locks.acquire('/locks/x');
      const leader = simulator.leaderId!;
      faults.killServer(leader);
      await simulator.until(() => simulator.leaderId !== undefined && simulator.leaderId !== leader);
      await simulator.until(() => a.connectedTo.length === 1);
      expect([lock.isHeld(), simulator.followerIds.includes(leader)]).toEqual([true, false]);
      faults.startServer(leader);
      await simulator.until(() => simulator.followerIds.includes(leader));
      faults.restartServer(leader);
      expect(simulator.followerIds).not.toContain(leader);
      await simulator.until(() => simulator.followerIds.includes(leader));
    }));

  it('freezeServer, thawServer: nothing is answered, and clients go elsewhere', () =>
    play(async ({ simulator, faults, a, until }) => {
      const [server] = a.connectedTo;
      faults.freezeServer(server!);
      await until(a, 'suspended');
      await until(a, 'reconnected');
      expect(a.connectedTo).not.toEqual([server]);
      faults.thawServer(server!);
      await simulator.until(() => [...simulator.followerIds, simulator.leaderId].includes(server));
    }));

  it('isolateServer, endIsolation: its clients lose their locks before others can have them', () =>
    play(async ({ simulator, faults, a, b }) => {
      const lock = await a.locks.acquire('/locks/x');
      const [server] = a.connectedTo;
      faults.isolateServer(server!, ['a']);
      const next = await b.locks.acquire('/locks/x');
      expect([lock.isHeld(), next.isHeld()]).toEqual([false, true]);
      faults.endIsolation();
      await simulator.until(() => a.locks.connectionState === 'reconnected');
    }));

  it('lagServer: its clients see what was', () =>
    play(async ({ simulator, faults }) => {
      const clients = ['c', 'd', 'e', 'f', 'g', 'h'].map((name) => simulator.client(name));
      await simulator.until(() => clients.every(({ connectedTo }) => connectedTo.length === 1));
      const behind = clients.find(({ connectedTo }) => connectedTo[0] !== simulator.leaderId)!;
      expect(await takes(simulator, behind)).toBeLessThan(50);
      faults.lagServer(behind.connectedTo[0]!, 400);
      expect(await takes(simulator, behind)).toBeGreaterThan(400);
    }));

  it('stallServer, resumeServer: a follower that hears nothing gives its clients up', () =>
    play(async ({ simulator, faults }) => {
      const [server] = simulator.followerIds;
      faults.stallServer(server!, 'to-follower');
      await simulator.until(() => !simulator.followerIds.includes(server!), 60_000);
      faults.resumeServer(server!);
      await simulator.until(() => simulator.followerIds.includes(server!), 60_000);
      faults.stallServer(server!);
      await simulator.until(() => !simulator.followerIds.includes(server!), 60_000);
    }));

  it('limitSessions: a session that comes back is granted less', () =>
    play(
      async ({ simulator, faults, a, b, until }) => {
        faults.limitSessions(1, 8_000);
        faults.expireSession(a);
        await until(a, 'reconnected');
        await a.locks.acquire('/locks/x');
        faults.killClient(a);
        expect(await takes(simulator, b)).toBeLessThan(10_100);
      },
      { servers: 1 },
    ));

  it('holdCommits, releaseCommits: nobody gets a lock meanwhile', () =>
    play(async ({ simulator, faults, a }) => {
      faults.holdCommits();
      const acquiring = takes(simulator, a);
      await simulator.sleep(1_000);
      faults.releaseCommits();
      expect(await acquiring).toBeGreaterThan(1_000);
    }));

  it('loseQuorum, restoreQuorum: sessions outlive it, holders are told that they cannot be certain', () =>
    play(async ({ simulator, faults, a, until }) => {
      const lock = await a.locks.acquire('/locks/x');
      const { sessionId } = a.locks;
      faults.loseQuorum();
      await simulator.until(() => !lock.isHeld());
      await simulator.until(() => simulator.leaderId === undefined);
      await simulator.sleep(120_000);
      faults.restoreQuorum();
      await until(a, 'reconnected');
      expect(a.locks.sessionId).toBe(sessionId);
    }));

  it('wipeServers: everything is gone', () =>
    play(async ({ simulator, faults, a, until }) => {
      const lock = await a.locks.acquire('/locks/x');
      faults.wipeServers();
      await simulator.until(() => simulator.leaderId !== undefined);
      expect(simulator.queue('/locks/x')).toEqual([]);
      await simulator.until(() => !lock.isHeld());
      await until(a, 'reconnected');
      await a.locks.acquire('/locks/x');
    }));

  it('removeEmptyKeys, setNextSequence: the last number there is is refused', () =>
    play(async ({ simulator, faults, a, b }) => {
      const lock = await a.locks.acquire('/locks/x');
      faults.setNextSequence('/locks/x', 2_147_483_647);
      await expect(b.locks.acquire('/locks/x')).rejects.toMatchObject({ code: 'LOCK_CONFIGURATION' });
      await lock.release();
      faults.removeEmptyKeys();
      await simulator.sleep(10);
      await b.locks.withLock('/locks/x', () => expect(simulator.queue('/locks/x')[0]).toMatch(/-lock-0000000000$/));
    }));
});

describe('all faults', () => {
  const names = Object.getOwnPropertyNames(SimulatorFaults.prototype).filter((name) => name !== 'constructor');

  it('can be planned by the names of the methods', async () => {
    await using simulator = new LockSimulator();
    const unknown = (): void => simulator.plan([{ atMs: 0, fault: 'x' }] as unknown as PlannedFault[]);
    expect(unknown).toThrow(names.join(', '));
    expect(names.length).toBeGreaterThan(25);
  });

  it('happen at the times of a plan that came as JSON', async () => {
    await using simulator = new LockSimulator({ servers: 3 });
    const { locks } = simulator.client('a');
    const states: string[] = [];
    const plan = JSON.parse(
      '[{"atMs":2000,"fault":"refuseLinks","with":["a"]},{"atMs":3000,"fault":"acceptLinks","with":["a"]}]',
    ) as PlannedFault[];
    simulator.plan(plan);
    const beganAt = simulator.now();
    locks.connectionState$.subscribe((state) =>
      states.push(`${state} ${Math.floor((simulator.now() - beganAt) / 1_000)}`),
    );
    await simulator.run(() => simulator.sleep(10_000));
    expect(states.slice(0, 3)).toEqual(['connecting 0', 'connected 0', 'suspended 2']);
    expect(states.slice(3)).toEqual([expect.stringMatching(/^reconnected [34]$/)]);
  });

  it('end with endAll', () =>
    play(async ({ simulator, faults, a, b, until }) => {
      faults.pauseClient(a);
      faults.stallLink(b);
      faults.holdCommits();
      faults.loseQuorum();
      faults.lagServer(1, 60_000);
      faults.freezeServer(2);
      faults.isolateServer(3);
      await simulator.sleep(60_000);
      faults.endAll();
      await Promise.all([until(a, 'reconnected'), until(b, 'reconnected')]);
      expect(await takes(simulator, a)).toBeLessThan(5_000);
      expect([simulator.leaderId !== undefined, simulator.followerIds.length]).toEqual([true, 2]);
    }));
});
