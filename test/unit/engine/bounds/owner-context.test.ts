import { describe, expect, it } from '@jest/globals';
import {
  currentFrame,
  currentLock,
  detached,
  Identifiers,
  type OwnedLock,
  type OwnerFrame,
  runInFrame,
} from '../../../../lib/engine/bounds/owner-context.js';
import type { Hold } from '../../../../lib/engine/hold/hold.js';
import {
  LockConfigurationError,
  LockLostError,
  LockTimeoutError,
  LockUnavailableError,
} from '../../../../lib/lock/errors.js';
import type { LockHandle } from '../../../../lib/lock/handle.js';
import { covers, LOCK_MODES, type LockMode } from '../../../../lib/lock/mode.js';
import { namePrefix, parseNodeName } from '../../../../lib/queue/node-name.js';
import { rejection } from '../support/engine-world.js';
import { useEngine } from '../support/use-engine.js';

function owned(key: string): OwnedLock & { readonly hold: { isReleased: boolean } } {
  return { hold: { isReleased: false } as unknown as Hold, handle: { key } as LockHandle };
}

function frame(...locks: OwnedLock[]): OwnerFrame {
  const parent = currentFrame();
  return { service: {}, owner: parent?.owner ?? 'owner', locks, parent, isClosed: false };
}

const keyHere = (): string | undefined => currentLock()?.key;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the locks around a piece of code', () => {
  it('are seen inside it, over awaits and timers, and nowhere else', async () => {
    const seen: (string | undefined)[] = [keyHere()];
    await runInFrame(frame(owned('/a')), async () => {
      seen.push(keyHere());
      await turn();
      seen.push(keyHere());
      await new Promise<void>((resolve) => setTimeout(() => resolve(void seen.push(keyHere())), 1));
    });
    seen.push(keyHere());
    expect(seen).toEqual([undefined, '/a', '/a', '/a', undefined]);
  });

  it('are those of one call: calls side by side do not see each other', async () => {
    const seen = await Promise.all(
      ['/a', '/b'].map((key) =>
        runInFrame(frame(owned(key)), async () => {
          await turn();
          return keyHere();
        }),
      ),
    );
    expect(seen).toEqual(['/a', '/b']);
  });

  it('are shared by siblings of a Promise.all inside it', async () => {
    const seen = await runInFrame(frame(owned('/a')), () => Promise.all([turn().then(keyHere), turn().then(keyHere)]));
    expect(seen).toEqual(['/a', '/a']);
  });

  it('nest: the innermost first, all of one owner, and a filter looks further out', async () => {
    await runInFrame(frame(owned('/outer'), owned('/later')), async () => {
      await runInFrame(frame(owned('/inner')), async () => {
        expect(keyHere()).toBe('/inner');
        expect(currentLock(({ key }) => key !== '/inner')?.key).toBe('/later');
        expect(currentFrame()?.owner).toBe('owner');
      });
      expect(keyHere()).toBe('/later');
    });
  });

  it('are no longer seen by a promise that outlives the call, nor passed on to what it starts', async () => {
    let go!: () => void;
    const gate = new Promise<void>((resolve) => (go = resolve));
    let left!: Promise<(string | undefined)[]>;
    await runInFrame(frame(owned('/outer')), async () => {
      await runInFrame(frame(owned('/inner')), async () => {
        left = (async () => {
          await gate;
          return [keyHere(), currentFrame()?.owner];
        })();
      });
    });
    go();
    expect(await left).toEqual([undefined, undefined]);
  });

  it('are seen to the outermost by what was left running in an inner call', async () => {
    await runInFrame(frame(owned('/outer')), async () => {
      let left!: Promise<string | undefined>;
      await runInFrame(frame(owned('/inner')), async () => void (left = turn().then(turn).then(keyHere)));
      expect(await left).toBe('/outer');
    });
  });

  it('are kept alive by nobody once the call has ended: what was left running keeps an empty frame', async () => {
    const here = frame(owned('/a'), owned('/b'));
    await runInFrame(here, async () => expect(here.locks.length).toBe(2));
    expect([here.isClosed, here.locks]).toEqual([true, []]);
  });

  it('make no chain of calls that have ended, when each call starts the next one', async () => {
    const depths: number[] = [];
    const run = async (before: Promise<void>, left: number): Promise<void> => {
      const here = frame(owned('/job'));
      let depth = 0;
      for (let around = here.parent; around !== undefined; around = around.parent) depth += 1;
      depths.push(depth);
      let next: Promise<void> | undefined;
      const ended = runInFrame(here, async () => {
        await before;
        // Begins inside this call, and goes on after it.
        if (left > 0) next = run(ended, left - 1);
      });
      await ended;
      await next;
    };
    await run(Promise.resolve(), 20);
    expect(Math.max(...depths)).toBe(1);
  });

  it('are not seen once they were released', async () => {
    const lock = owned('/a');
    await runInFrame(frame(lock), async () => {
      lock.hold.isReleased = true;
      expect(keyHere()).toBeUndefined();
    });
  });

  it('are not seen in what is detached, and are again behind it', async () => {
    await runInFrame(frame(owned('/a')), async () => {
      expect(await detached(async () => turn().then(keyHere))).toBeUndefined();
      expect(keyHere()).toBe('/a');
    });
  });

  it('are around a lazy thenable, which starts when it is awaited', async () => {
    const lazy: PromiseLike<string | undefined> = {
      then: (resolve, reject) => Promise.resolve(keyHere()).then(resolve, reject),
    };
    expect(await runInFrame(frame(owned('/a')), () => lazy)).toBe('/a');
  });

  it('are taken away by an error as well, which passes untouched', async () => {
    const here = frame(owned('/a'));
    const failure = new Error('of the work');
    expect(await rejection(runInFrame(here, () => Promise.reject(failure)))).toBe(failure);
    const thrown = frame(owned('/a'));
    const throwing = (): never => {
      throw failure;
    };
    expect(await rejection(runInFrame(thrown, throwing))).toBe(failure);
    expect([here.isClosed, thrown.isClosed]).toEqual([true, true]);
  });
});

const KEY = '/locks/account';
const MATRIX = LOCK_MODES.flatMap((held) => LOCK_MODES.map((asked) => [held, asked] as const));

describe('a call inside its own lock', () => {
  const { engine, one } = useEngine('one');

  const inside = <T>(mode: LockMode, work: () => Promise<T>): Promise<T> =>
    engine.settle(one.locks.withLock(KEY, work, { mode }));

  it.each(MATRIX.filter(([held, asked]) => covers(held, asked)))(
    'held as %s shares it, with its token, when it asks for %s',
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
    'held as %s is refused at once, with what to do, when it asks for %s',
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

  it('is refused rather than hang where it forbids to share', async () => {
    const error = await inside('exclusive', () => rejection(one.locks.acquire(KEY, { reentrant: false })));
    expect(error).toBeInstanceOf(LockConfigurationError);
    expect(error.details).toContain('reentrant: false');
  });

  it('may write after an upgrade', async () => {
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

  it('waits as any other for the same key of another service, and for another key', async () => {
    const other = await engine.client('other');
    const errors = await inside('exclusive', async () => rejection(other.locks.acquire(KEY, { waitMs: 100 })));
    expect(errors).toBeInstanceOf(LockTimeoutError);
    await inside('exclusive', async () => (await one.locks.acquire(`${KEY}/nested`)).release());
  });

  it('is told so when that lock was lost, and does not take it anew', async () => {
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

  it('waits for proof while the link is down, and for no longer than it would for the lock', async () => {
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

it('identifiers of one service are UUIDs that differ, and those of another differ from them', () => {
  const one = new Identifiers('0e4d05c1-0e1f-4a3e-93ee-8a9c5f6e1d2b');
  const other = new Identifiers('7b21c9aa-31c4-4f0e-8d1b-0c9c5f6e1d2b');
  const ids = Array.from({ length: 1_000 }, () => [one.next(), other.next()]).flat();
  expect(new Set(ids).size).toBe(2_000);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

it('a node that is named with an identifier of a service is known as ours, with that id', () => {
  const id = new Identifiers('0e4d05c1-0e1f-4a3e-93ee-8a9c5f6e1d2b').next();
  expect(parseNodeName(`${namePrefix('write', id)}0000000007`)).toMatchObject({ id, ours: true, mode: 'write' });
});
