import { describe, expect, it, jest } from '@jest/globals';
import { ZookeeperLockService } from '../../../lib/engine/zookeeper-lock-service.js';
import { LockLostError } from '../../../lib/lock/errors.js';
import type { Reply, Request } from '../../../lib/session/requests.js';
import { promisesSettled } from '../support/manual-clock.js';
import { stat } from '../support/session-world.js';
import { engineSettings, EngineWorld, rejection } from './support/engine-world.js';
import { ScriptedSession } from './support/scripted-session.js';

const S_MS = 4_000;

/** Servers with any number of queues, and a session whose event loop can be blocked while an answer is on its way. */
class BlockedLoop {
  readonly session = new ScriptedSession();
  readonly service: ZookeeperLockService;
  readonly #nodes = new Set<string>();
  #sequence = 0;
  #onAnswer: (request: Request) => boolean = () => false;

  constructor() {
    this.#prove();
    this.session.answer = (request) => this.#answer(request);
    const process = new EngineWorld().world.process('settings');
    this.service = new ZookeeperLockService(this.session.asSession, engineSettings(process));
  }

  /** What is read behind the block is a new proof of life: certain again, and all that was held before is lost. */
  block(): void {
    this.session.clock.block(S_MS + 1_000);
    this.session.certainSinceMs = this.session.clock.now();
    this.#prove();
  }

  /** The loop is blocked until the answer to the first such request is read, before any timer. */
  blockBeforeAnswerTo(matches: (request: Request) => boolean): void {
    this.#onAnswer = matches;
  }

  #prove(): void {
    this.session.certainUntilMs = this.session.clock.now() + S_MS;
  }

  #answer(request: Request): Reply {
    if (this.#onAnswer(request)) {
      this.#onAnswer = () => false;
      this.block();
    }
    if (request.op === 'create') {
      const path = request.path + (request.mode === 'ephemeral-sequential' ? this.#next() : '');
      this.#nodes.add(path);
      return { path, stat: stat({ czxid: BigInt(this.#sequence), ephemeralOwner: 1n }) };
    }
    if (request.op === 'get') return { data: new Uint8Array(0), stat: stat() };
    if (request.op !== 'list') return undefined;
    const children = [...this.#nodes].filter((path) => path.startsWith(`${request.path}/`));
    return { children: children.map((path) => path.slice(request.path.length + 1)), stat: stat() };
  }

  #next(): string {
    this.#sequence += 1;
    return String(this.#sequence).padStart(10, '0');
  }
}

describe('a lock that was lost behind a blocked event loop, before any timer could tell, is not passed off as held', () => {
  it('whenSure() sees it, though its proof of life began a new stretch of certainty', async () => {
    const loop = new BlockedLoop();
    const lock = await loop.service.acquire('/l/a');
    loop.session.state$.next('suspended');
    const sure = rejection(lock.whenSure());
    loop.session.proveLife = async () => loop.block();
    loop.session.state$.next('reconnected');
    expect(await sure).toBeInstanceOf(LockLostError);
    expect(lock.isHeld()).toBe(false);
  });

  it('whenSure() of several locks sees it', async () => {
    const loop = new BlockedLoop();
    const locks = await loop.service.acquireAll(['/l/a', '/l/b']);
    loop.session.state$.next('suspended');
    const sure = rejection(locks.whenSure());
    loop.session.proveLife = async () => loop.block();
    loop.session.state$.next('reconnected');
    expect(await sure).toBeInstanceOf(LockLostError);
  });

  it('acquireAll() sees it, though it waited for the answer to the next one', async () => {
    const loop = new BlockedLoop();
    loop.blockBeforeAnswerTo((request) => request.op === 'list' && request.path === '/l/b');
    expect(await rejection(loop.service.acquireAll(['/l/a', '/l/b']))).toBeInstanceOf(LockLostError);
  });

  it('a call inside the lock, which shares it, sees it', async () => {
    const loop = new BlockedLoop();
    const inside = rejection(
      loop.service.withLock('/l/a', async () => {
        loop.session.state$.next('suspended');
        const shared = loop.service.acquire('/l/a');
        loop.session.proveLife = async () => loop.block();
        loop.session.state$.next('reconnected');
        return { isHeld: (await shared).isHeld() };
      }),
    );
    expect(await inside).toBeInstanceOf(LockLostError);
  });

  it('upgrade() sees it, though it waited for its intent', async () => {
    const loop = new BlockedLoop();
    const lock = await loop.service.acquire('/l/a', { mode: 'upgradeable' });
    loop.blockBeforeAnswerTo((request) => request.op === 'create' && request.path.includes('WRIT'));
    expect(await rejection(lock.upgrade())).toBeInstanceOf(LockLostError);
    expect(lock.mode).toBe('upgradeable');
  });

  it('upgrade() sees it when another has done it and its caller blocked the loop', async () => {
    const loop = new BlockedLoop();
    const lock = await loop.service.acquire('/l/a', { mode: 'upgradeable' });
    const first = lock.upgrade().then(() => loop.block());
    const second = rejection(lock.upgrade());
    await first;
    expect(await second).toBeInstanceOf(LockLostError);
  });

  it('lock() of a transaction, which has that lock already, sees it', async () => {
    const loop = new BlockedLoop();
    const told: Error[] = [];
    const work = rejection(
      loop.service.transaction(async (tx) => {
        await tx.lock('/l/a');
        loop.block();
        told.push(await rejection(tx.lock('/l/a')), await rejection(tx.lock('/l/b')));
      }),
    );
    expect(await work).toBeInstanceOf(LockLostError);
    await promisesSettled();
    expect(told).toEqual([expect.any(LockLostError), expect.any(LockLostError)]);
  });

  it.each<[string, (service: ZookeeperLockService) => Promise<unknown>]>([
    ['acquire()', (service) => service.acquire('/l/b', { mode: 'read' })],
    ['acquireAll()', (service) => service.acquireAll(['/l/b'], { mode: 'read' })],
  ])('%s sees it, though another one blocks the loop on the way from the hold to its caller', async (_name, take) => {
    const loop = new BlockedLoop();
    // With somebody else in the queue the way is longer than that of a lock that nobody else wants.
    await loop.service.acquire('/l/b', { mode: 'read' });
    const first = loop.service.acquire('/l/a').then(() => loop.block());
    const second = rejection(take(loop.service));
    await first;
    expect(await second).toBeInstanceOf(LockLostError);
  });

  it.each<[string, (service: ZookeeperLockService, work: () => void) => Promise<unknown>]>([
    ['withLock()', (service, work) => service.withLock('/l/b', work)],
    ['transaction()', (service, work) => service.transaction((tx) => tx.lock('/l/b').then(work))],
  ])('the work of %s is not begun', async (_name, take) => {
    const loop = new BlockedLoop();
    const first = loop.service.withLock('/l/a', () => loop.block());
    const work = jest.fn();
    const second = rejection(take(loop.service, work));
    expect(await rejection(first)).toBeInstanceOf(LockLostError);
    expect(await second).toBeInstanceOf(LockLostError);
    expect(work).not.toHaveBeenCalled();
  });

  it.each(['extend', 'assertHeld'] as const)('%s() sees it', async (question) => {
    const loop = new BlockedLoop();
    const lock = await loop.service.acquire('/l/a', { leaseMs: 60_000 });
    loop.block();
    expect(() => (question === 'extend' ? lock.extend(60_000) : lock.assertHeld())).toThrow(LockLostError);
  });
});
