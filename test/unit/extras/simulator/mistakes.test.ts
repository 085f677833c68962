import { afterEach, describe, expect, it } from '@jest/globals';
import { LockSimulator, type LockSimulatorOptions, type PlannedFault } from '../../../../lib/extras/simulator/index.js';
import { LockHandle, MultiLockHandle } from '../../../../lib/lock/handle.js';
import { LockConfigurationError } from '../../../../lib/lock/errors.js';

const simulator = new LockSimulator({ servers: 3 });
const a = simulator.client('a');
const untyped = simulator as unknown as Record<string, (...args: unknown[]) => unknown>;
const faults = simulator.faults as unknown as Record<string, (...args: unknown[]) => unknown>;

afterEach(() => simulator.faults.endAll());

/** What it says, and that it is an error of this package which says so before anything happened. */
function mistakeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(LockConfigurationError);
    return (error as LockConfigurationError).message;
  }
  return 'no mistake was told';
}

describe('the options of a simulator', () => {
  it.each<[string, unknown, string]>([
    ['an option that there is not', { server: 3 }, 'server: is not an option (the options are: clock, seed, servers'],
    ['a clock that there is not', { clock: 'fake' }, `clock: must be 'virtual' or 'real', not "fake"`],
    ['a seed for the real clock', { clock: 'real', seed: 1 }, 'seed: is for the virtual clock'],
    ['a seed that is none', { seed: 0.5 }, 'seed: must be a whole number, not 0.5'],
    ['no servers', { servers: 0 }, 'servers: must be a whole number from 1 to 99, not 0'],
    ['a tick that is none', { tickMs: '2000' }, 'tickMs: must be a number of milliseconds, 1 or more, not "2000"'],
    ['a latency that ends before it begins', { clientLatencyMs: [4, 1] }, 'clientLatencyMs: must be a number of milli'],
    ['a latency of text', { diskMs: 'slow' }, 'diskMs: must be a number of milliseconds, or two of them'],
    ['a trace that cannot be called', { trace: true }, 'trace: must be a function, not true'],
    ['no object', 3, 'must be given an object such as { seed: 42, servers: 3 }, not 3'],
  ])('say what is wrong with %s', (_what, options, expected) => {
    expect(mistakeOf(() => new LockSimulator(options as LockSimulatorOptions))).toContain(`LockSimulator: ${expected}`);
  });

  it.each<[string, unknown, string]>([
    ['an option that there is not', { waitMS: 1 }, "client 'b': waitMS: is not an option"],
    ['a value', { waitMs: 'long' }, 'waitMs: must be a number of milliseconds, 0 or more, not "long"'],
    [
      'what is the simulator to decide',
      { connect: 'zk:2181' },
      'connect: is not an option here, as the simulator itself',
    ],
  ])('say what is wrong with %s of a client', (_what, options, expected) => {
    expect(mistakeOf(() => simulator.client('b', options as object))).toContain(expected);
  });

  it('say what is wrong with a client that is given options for the second time, and one without a name', () => {
    expect(mistakeOf(() => simulator.client('a', { waitMs: 1 }))).toContain("client 'a' has its options already");
    expect(mistakeOf(() => simulator.client(''))).toContain('client: must be given a name, not ""');
    expect(simulator.client('a')).toBe(a);
  });
});

it('there is no count of what is no request', () => {
  expect(mistakeOf(() => untyped['requestCount']!('acquire'))).toContain('requestCount: there is no request "acquire"');
  expect(mistakeOf(() => untyped['requestCount']!('reattach'))).toContain('requestCount: a handshake is no request');
});

describe('a fault, before anything happens,', () => {
  it.each<[string, unknown[], string]>([
    ['killServer', [4], 'killServer: there is no server 4: they are 1 to 3'],
    ['killServer', [], 'killServer: there is no server undefined'],
    [
      'pauseClient',
      ['z'],
      `pauseClient: there is no client "z": make it by simulator.client(name) first (there are: 'a')`,
    ],
    ['cutLink', [{}], 'cutLink: there is no client an object'],
    ['stallLink', ['a', 'sideways'], `stallLink: the direction must be 'to-server' or 'to-client', not "sideways"`],
    ['stallServer', [1, 'to-client'], `stallServer: the direction must be 'to-leader' or 'to-follower'`],
    ['loseNextReply', ['a', 'acquire'], 'loseNextReply: there is no request "acquire": it is one of create, delete'],
    ['lagServer', [1, -5], 'lagServer: must be given a number of milliseconds, not -5'],
    ['setLatency', ['a', [1]], 'setLatency: the latency must be a number of milliseconds, or two of them'],
    ['isolateServer', [1, ['z']], 'isolateServer: there is no client "z"'],
    ['isolateServer', [1, 'a'], 'isolateServer: the clients must be a list, not "a"'],
    ['setNextSequence', ['locks', 1], 'setNextSequence: must be given a path such as \'/locks/a\', not "locks"'],
    ['setNextSequence', ['/locks', '1'], 'setNextSequence: must be given a whole number, not "1"'],
    ['limitSessions', [1, 'short'], 'limitSessions: must be given a number of milliseconds, not "short"'],
    ['expireSession', ['a'], "expireSession: client 'a' has no session now: wait until it is connected"],
  ])('says that there is no %s(%j)', (fault, given, expected) => {
    expect(mistakeOf(() => faults[fault]!(...given))).toContain(expected);
    if (fault !== 'expireSession') {
      const plan = [
        { atMs: 0, fault: 'killServer', with: [1] },
        { atMs: 5, fault, with: given },
      ] as unknown as PlannedFault[];
      expect(mistakeOf(() => simulator.plan(plan))).toContain(`plan: fault 2 of 2: ${expected}`);
    }
    expect(simulator.leaderId).toBeDefined();
  });

  it.each<[string, unknown, string]>([
    [
      'a fault that there is not',
      [{ atMs: 1, fault: 'cutlink', with: ['a'] }],
      'There is no fault "cutlink". The faults are: cutLink, ',
    ],
    ['the name of what is no fault', [{ atMs: 1, fault: 'constructor' }], 'There is no fault "constructor"'],
    ['too much', [{ atMs: 1, fault: 'loseQuorum', with: [2] }], 'loseQuorum: takes 0 argument(s), not 1'],
    ['no time', [{ fault: 'killServer', with: [1] }], 'fault 1 of 1: must be an object such as { atMs: 2_000'],
    ['an argument outside a list', [{ atMs: 1, fault: 'killServer', with: 1 }], 'with: must be a list, not 1'],
    ['no list', { atMs: 1 }, 'plan: must be given a list of faults'],
  ])('says that there is no sense in a plan with %s', (_what, plan, expected) => {
    expect(mistakeOf(() => simulator.plan(plan as PlannedFault[]))).toContain(expected);
  });
});

/** Compiled and never run: what an editor marks before any test does. */
export function refusedByTheTypes(): void {
  // @ts-expect-error there is no such fault
  simulator.plan([{ atMs: 1, fault: 'killserver', with: [1] }]);
  // @ts-expect-error a server is a number
  simulator.plan([{ atMs: 1, fault: 'killServer', with: ['a'] }]);
  // @ts-expect-error there is no such request
  simulator.faults.loseNextReply(a, 'acquire');
  // @ts-expect-error there is no such direction
  simulator.faults.stallLink(a, 'sideways');
  // @ts-expect-error where to connect is not for a client to say
  simulator.client('b', { connect: 'zk1:2181' });
  // @ts-expect-error there is no such option
  new LockSimulator({ server: 3 });
}

describe('while the virtual clock stands still,', () => {
  it.each<[string, () => unknown]>([
    ['acquire', () => a.locks.acquire('/locks/x')],
    ['tryAcquire', () => a.locks.tryAcquire('/locks/x')],
    ['withLock', () => a.locks.withLock('/locks/x', () => undefined)],
    ['acquireAll', () => a.locks.acquireAll(['/locks/x'])],
    ['transaction', () => a.locks.transaction(() => undefined)],
    ['inspect', () => a.locks.inspect('/locks/x')],
    ['close', () => a.locks.close()],
    ['createEphemeralSequential', () => a.recipe.createEphemeralSequential('/locks/x')],
    ['isLockAcquired', () => a.recipe.isLockAcquired('/locks/x/lock-0000000000')],
    ['watchPredecessor', () => a.recipe.watchPredecessor('/locks/x/lock-0000000000', () => undefined)],
    ['sleep', async () => simulator.sleep(1)],
    ['sleep', async () => a.sleep(1)],
    ['until', async () => simulator.until(() => true)],
  ])('%s says how time is made to pass', async (what, call) => {
    await expect(call()).rejects.toThrow(`${what}: the simulated clock stands still here`);
    await expect(call()).rejects.toThrow('await simulator.run(async () => { ... })');
  });
});

describe('a run', () => {
  it('says what it may wait for where it does not settle, and the next one works', async () => {
    const seeded = new LockSimulator({ seed: 7 });
    const never = seeded.run(() => new Promise(() => undefined), 60_000);
    await expect(never).rejects.toThrow(/has not settled within 60000 ms of simulated time \(seed 7\).*clock: 'real'/);
    await expect(seeded.run(() => 'well')).resolves.toBe('well');
    await expect(seeded.run(() => seeded.until(() => false, 500))).rejects.toThrow(
      /until: the condition did not hold in time: \(\) ?=> ?false/,
    );
    await seeded.close();
  });

  it('rejects with the error of the work itself, of a condition, and of a planned fault that fails', async () => {
    const own = new Error('my own');
    const fail = (): never => {
      throw own;
    };
    await expect(simulator.run(fail)).rejects.toBe(own);
    await expect(simulator.run(() => simulator.until(fail))).rejects.toBe(own);
    await expect(
      simulator.run(async () => {
        for (const id of [1, 2, 3]) simulator.faults.killServer(id);
        simulator.plan([{ atMs: 10, fault: 'expireSession', with: ['a'] }]);
        await simulator.sleep(20);
      }),
    ).rejects.toThrow('Nobody leads the simulated ensemble now');
    expect(mistakeOf(() => untyped['run']!('work'))).toContain('run: must be given a function');
    expect(mistakeOf(() => untyped['run']!(() => undefined, 'soon'))).toContain('run: must be given a number of milli');
  });

  it('is told so where its client was killed', async () => {
    const { locks } = simulator.client('gone');
    simulator.faults.killClient('gone');
    await expect(simulator.run(() => locks.acquire('/locks/x'))).rejects.toThrow("acquire: client 'gone' was killed");
  });

  it('does not answer for handles that are used outside of it, or by nobody any more', async () => {
    await using other = new LockSimulator();
    const { locks } = other.client('b');
    const taken = await other.run(() =>
      Promise.all([locks.acquire('/locks/x'), locks.acquireAll(['/locks/y', '/locks/z'])]),
    );
    const [one, several] = taken;
    const calls = [() => one.release(), () => one.upgrade(), () => one.whenSure(), () => one[Symbol.asyncDispose]()];
    for (const call of [...calls, () => several.release(), () => several.locks[0]!.release()]) {
      await expect(call()).rejects.toThrow(/^(?:release|upgrade|whenSure): the simulated clock stands still here/);
    }
    expect([one.isHeld(), one instanceof LockHandle, several instanceof MultiLockHandle]).toEqual([true, true, true]);

    await other.run(() => Promise.all([one.release(), several.release()]));
    expect([one.isHeld(), other.queue('/locks/y')]).toEqual([false, []]);
    const last = await other.run(() => locks.acquire('/locks/x'));
    other.faults.killClient('b');
    await expect(other.run(() => last.release())).rejects.toThrow("release: client 'b' was killed");
  });

  it('is refused where its simulator is closed', async () => {
    const closed = new LockSimulator();
    const client = closed.client('a');
    await closed.close();
    expect(mistakeOf(() => closed.run(() => undefined))).toBe('run: this simulator is closed; make another one');
    expect(mistakeOf(() => closed.client('b'))).toContain('is closed');
    await expect(client.locks.acquire('/locks/x')).rejects.toThrow('acquire: this simulator is closed');
  });
});
