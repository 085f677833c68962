import { setTimeout as stay } from 'node:timers/promises';
import type { LockHandle } from '../../lib/lock/handle.js';
import type { LockMode } from '../../lib/lock/mode.js';
import { type ClosableLockService, createLockService } from '../../lib/open.js';
import { judge, type Verdict } from '../support/neighbours/judge.js';
import { Journal } from '../support/neighbours/journal.js';
import type { Neighbour, NeighbourCycle } from '../support/neighbours/neighbour.js';
import { list } from '../../lib/session/requests.js';
import { eventually } from '../support/process/eventually.js';
import { replyTo } from '../support/sessions/reply-to.js';
import { openWire, untilUp } from '../support/sessions/wire-session.js';
import { type StandaloneServer, startZooKeeper } from '../support/zookeeper/start-zookeeper.js';

const TICK_MS = 500;
/** Long enough for a second holder, were there one, to be seen inside. */
const STAY_MS = 1;

function openLocks({ connect }: StandaloneServer): Promise<ClosableLockService> {
  return createLockService({ connect, serverTickMs: TICK_MS, sessionTimeoutMs: 8_000, waitMs: 20_000 });
}

/** A server, a lock service of ours, and a journal that all holders write, whoever made them. */
export class InteropWorld {
  #neighbour: Neighbour | undefined;

  private constructor(
    readonly server: StandaloneServer,
    readonly journal: Journal,
    readonly locks: ClosableLockService,
  ) {}

  static async start(): Promise<InteropWorld> {
    // Numbers start again when a parent was reaped, which would look like a wrong order.
    const server = await startZooKeeper({ tickTimeMs: TICK_MS, containerCheckIntervalMs: 3_600_000 });
    const journal = await Journal.open();
    return new InteropWorld(server, journal, await openLocks(server));
  }

  /** A world with a neighbour in it, which ends with it. */
  static async startWith(
    start: (connect: string, journal: Journal) => Promise<Neighbour>,
  ): Promise<{ world: InteropWorld; neighbour: Neighbour }> {
    const world = await InteropWorld.start();
    try {
      const neighbour = await start(world.server.connect, world.journal);
      world.#neighbour = neighbour;
      return { world, neighbour };
    } catch (error) {
      await world.stop();
      throw error;
    }
  }

  /** A lock service of ours with a session of its own, as another process has one; its user closes it. */
  openAnother(): Promise<ClosableLockService> {
    return openLocks(this.server);
  }

  async stop(): Promise<void> {
    await this.#neighbour?.stop();
    await this.locks.close(0);
    await this.server.stop();
    await this.journal.remove();
  }

  /** Takes a lock of ours and writes so into the journal. */
  async hold(mode: LockMode, key: string): Promise<LockHandle> {
    const lock = await this.locks.acquire(key, { mode });
    this.journal.enter(lock);
    return lock;
  }

  async release(lock: LockHandle): Promise<void> {
    this.journal.leave(lock);
    await lock.release();
  }

  /** Takes and gives back a lock of ours without a pause, as a neighbour's `cycle` does. */
  cycle(mode: LockMode, key: string): NeighbourCycle {
    let isEnding = false;
    const run = async (): Promise<number> => {
      let rounds = 0;
      for (; !isEnding; rounds += 1) {
        const lock = await this.hold(mode, key);
        await stay(STAY_MS);
        await this.release(lock);
      }
      return rounds;
    };
    const running = run();
    running.catch(() => undefined);
    return {
      end: () => {
        isEnding = true;
        return running;
      },
    };
  }

  /** Lets all go on until `isEnough`, then ends them, and gives the verdict on the whole. */
  async judgeCycles(
    key: string,
    cycles: readonly NeighbourCycle[],
    isEnough: (soFar: Verdict) => boolean,
    withinMs: number,
  ): Promise<Verdict> {
    const soFar = (): Verdict => judge(this.journal.of(key));
    const isOver = (): boolean => soFar().violations.length > 0 || isEnough(soFar());
    const explain = (): string => JSON.stringify({ ...soFar(), handOvers: [...soFar().handOvers] });
    try {
      await eventually('enough hand-overs', isOver, { withinMs, everyMs: 100, explain });
    } finally {
      await Promise.all(cycles.map((cycle) => cycle.end()));
    }
    return soFar();
  }

  /** The contenders of a key as the server tells them, in the order of their numbers. */
  async queue(key: string): Promise<string[]> {
    const { ephemerals } = await this.server.dump();
    const names = [...ephemerals.values()].flat().filter((path) => path.startsWith(`${key}/`));
    return names
      .map((path) => path.slice(key.length + 1))
      .filter((name) => !name.includes('/'))
      .sort((left, right) => Number(left.slice(-10)) - Number(right.slice(-10)));
  }

  /** All children of a key, those of no contender included. */
  async childrenOf(key: string): Promise<string[]> {
    const eye = openWire([this.server.port]);
    try {
      await untilUp(eye);
      return [...(await replyTo(eye, list(key))).children];
    } finally {
      await eye.close();
    }
  }

  /** Resolves with the queue when it has so many contenders; in time for those of a dead process to be removed. */
  queueOf(count: number, key: string): Promise<string[]> {
    const probe = async (): Promise<string[] | undefined> => {
      const queue = await this.queue(key);
      return queue.length === count ? queue : undefined;
    };
    return eventually(`${count} in the queue of ${key}`, probe, { withinMs: 20_000 });
  }
}

/** A condition on hand-overs between ours and a neighbour's. */
export function handOversEachWay(count: number, maker: string): (verdict: Verdict) => boolean {
  return ({ handOvers }) =>
    (handOvers.get(`ours > ${maker}`) ?? 0) >= count && (handOvers.get(`${maker} > ours`) ?? 0) >= count;
}

/** A condition on how often every one of these was inside. */
export function entriesOfEach(count: number, names: readonly string[]): (verdict: Verdict) => boolean {
  return ({ entries }) => names.every((name) => (entries.get(name) ?? 0) >= count);
}
