import { describe, expect, it } from '@jest/globals';
import type { Hold } from '../../../../lib/engine/hold/hold.js';
import {
  currentFrame,
  currentLock,
  detached,
  type OwnedLock,
  type OwnerFrame,
  runInFrame,
} from '../../../../lib/engine/bounds/owner-context.js';
import type { LockHandle } from '../../../../lib/lock/handle.js';
import { rejection } from '../support/engine-world.js';

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

  it('that were left running in an inner call still see the outer one', async () => {
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

  it('are not seen once they were given back', async () => {
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
