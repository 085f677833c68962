import { beforeEach, describe, expect, it } from '@jest/globals';
import { currentLock } from '../../../lib/engine/bounds/owner-context.js';
import { promisesSettled } from '../support/manual-clock.js';
import { useEngine } from './support/use-engine.js';

/** Whoever is told of a lock must not find around it the locks of the one by whom it came to be known. */
describe('the locks of whoever finds out', () => {
  const { engine, one } = useEngine('one');
  let seen: (string | undefined)[];
  const note = (): void => void seen.push(currentLock()?.key);
  beforeEach(() => {
    seen = [];
  });

  it('are not around the listener of a signal, although the timer was set by another call inside its own lock', async () => {
    const lock = await engine.settle(one.locks.acquire('/b', { leaseMs: 2_000 }));
    lock.signal.addEventListener('abort', note);
    await engine.settle(
      one.locks.withLock('/a', async () => {
        // Its deadline comes before the lease: the service's one timer is set anew, in here.
        const other = await one.locks.acquire('/x', { waitMs: 100 });
        await one.sleep(3_000);
        await other.release();
      }),
    );
    expect(seen).toEqual([undefined]);
  });

  it('are not around the listener of a signal whose lock another call finds to be lost', async () => {
    const lock = await engine.settle(one.locks.acquire('/b', { leaseMs: 500 }));
    lock.signal.addEventListener('abort', note);
    let open!: () => void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const finding = one.locks.withLock('/a', async () => {
      await gate;
      return lock.isHeld();
    });
    await engine.runFor(100);
    one.process.pause();
    await engine.runFor(600);
    open();
    await promisesSettled();
    expect(seen).toEqual([undefined]);
    one.process.resume();
    expect(await engine.settle(finding)).toBe(false);
  });

  it('are not around the subscriber of events', async () => {
    one.locks.events$.subscribe(note);
    await engine.settle(
      one.locks.withLock('/a', async () => {
        const inner = await one.locks.acquire('/b');
        await inner.release();
      }),
    );
    expect(seen).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('are not around the subscriber of snapshots', async () => {
    await engine.settle(
      one.locks.withLock('/a', async () => {
        const watching = one.locks.watch('/b').subscribe(note);
        await one.sleep(100);
        const inner = await one.locks.acquire('/b');
        await one.sleep(100);
        await inner.release();
        watching.unsubscribe();
      }),
    );
    expect(seen.length).toBeGreaterThan(1);
    expect(new Set(seen)).toEqual(new Set([undefined]));
  });
});
