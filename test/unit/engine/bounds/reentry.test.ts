import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  LockConfigurationError,
  LockLostError,
  LockTimeoutError,
  LockUnavailableError,
} from '../../../../lib/lock/errors.js';
import { covers, LOCK_MODES, type LockMode } from '../../../../lib/lock/mode.js';
import { type Client, EngineWorld, rejection } from '../support/engine-world.js';

const KEY = '/locks/account';
const MATRIX = LOCK_MODES.flatMap((held) => LOCK_MODES.map((asked) => [held, asked] as const));

describe('a call inside its own lock', () => {
  let engine: EngineWorld;
  let one: Client;

  beforeEach(async () => {
    engine = new EngineWorld();
    one = await engine.client('one');
  });
  afterEach(() => engine.end());

  const inside = <T>(mode: LockMode, work: () => Promise<T>): Promise<T> =>
    engine.settle(one.locks.withLock(KEY, work, { mode }));

  it.each(MATRIX.filter(([held, asked]) => covers(held, asked)))(
    'held as %s, asking for %s: shares it, with its token',
    async (held, asked) => {
      await inside(held, async () => {
        const outer = one.locks.withLock(KEY, async (lock) => lock.fencingToken, { mode: asked });
        const shared = await one.locks.acquire(KEY, { mode: asked });
        expect([await outer, engine.queue(KEY).length]).toEqual([shared.fencingToken, 1]);
        await shared.release();
      });
      await engine.runFor(20);
      expect(engine.queue(KEY)).toEqual([]);
    },
  );

  it.each(MATRIX.filter(([held, asked]) => !covers(held, asked)))(
    'held as %s, asking for %s: refused at once, with what to do',
    async (held, asked) => {
      const errors = await inside(held, async () => [
        await rejection(one.locks.acquire(KEY, { mode: asked })),
        await rejection(one.locks.tryAcquire(KEY, { mode: asked })),
        await rejection(one.locks.withLock(KEY, () => undefined, { mode: asked })),
      ]);
      for (const error of errors) {
        expect(error).toBeInstanceOf(LockConfigurationError);
        expect(error.details).toContain('upgrade');
      }
    },
  );

  it('that forbids to share is refused rather than hang', async () => {
    const error = await inside('exclusive', () => rejection(one.locks.acquire(KEY, { reentrant: false })));
    expect(error).toBeInstanceOf(LockConfigurationError);
    expect(error.details).toContain('reentrant: false');
  });

  it('after an upgrade may write', async () => {
    await inside('upgradeable', async () => {
      const lock = await one.locks.acquire(KEY, { mode: 'read' });
      await lock.upgrade();
      await one.locks.withLock(KEY, (writing) => expect(writing.mode).toBe('write'), { mode: 'write' });
      await lock.release();
    });
  });

  it('keeps the lock until the last of those who share it is done', async () => {
    const other = await engine.client('other');
    const kept = await inside('exclusive', () => one.locks.acquire(KEY));
    expect(await engine.settle(other.locks.tryAcquire(KEY))).toBeUndefined();
    await engine.settle(kept.release());
    expect(await engine.settle(other.locks.tryAcquire(KEY))).toBeDefined();
  });

  it('is one of another service, or of another key, when it is: it waits as any other', async () => {
    const other = await engine.client('other');
    const errors = await inside('exclusive', async () => rejection(other.locks.acquire(KEY, { waitMs: 100 })));
    expect(errors).toBeInstanceOf(LockTimeoutError);
    await inside('exclusive', async () => (await one.locks.acquire(`${KEY}/nested`)).release());
  });

  it('of a lock that was lost is told so, and does not take it anew', async () => {
    let nested: Promise<Error> | undefined;
    const work = rejection(
      one.locks.withLock(KEY, async () => {
        await one.sleep(500);
        nested = rejection(one.locks.acquire(KEY));
      }),
    );
    await engine.runFor(100);
    engine.faults.expire(one.session.identity!.id);
    expect(await engine.settle(work)).toBeInstanceOf(LockLostError);
    await engine.runFor(1_000);
    expect(await nested).toBeInstanceOf(LockLostError);
    expect(engine.queue(KEY)).toEqual([]);
  });

  it('while the link is down waits for proof, and for no longer than it would for the lock', async () => {
    await inside('exclusive', async () => {
      engine.faults.refuse(one.process);
      await one.sleep(50);
      expect(await rejection(one.locks.acquire(KEY, { waitMs: 200 }))).toBeInstanceOf(LockUnavailableError);
      const waiting = one.locks.acquire(KEY, { waitMs: 2_000 });
      engine.faults.accept(one.process);
      const shared = await waiting;
      expect([shared.isHeld(), one.session.state]).toEqual([true, 'reconnected']);
      await shared.release();
    });
  });
});
