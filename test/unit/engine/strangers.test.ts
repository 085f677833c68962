import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { currentLock } from '../../../lib/engine/bounds/owner-context.js';
import { promisesSettled } from '../support/manual-clock.js';
import { type Client, EngineWorld } from './support/engine-world.js';

/** Whoever is told of a lock must not find around it the locks of the one by whom it came to be known. */
describe('what is told of a lock runs with none of the locks of whoever found out', () => {
  let engine: EngineWorld;
  let client: Client;
  let seen: (string | undefined)[];
  const note = (): void => void seen.push(currentLock()?.key);
  beforeEach(async () => {
    engine = new EngineWorld();
    client = await engine.client('one');
    seen = [];
  });
  afterEach(() => engine.end());

  it('a signal, although the timer was set by another call inside its own lock', async () => {
    const lock = await engine.settle(client.locks.acquire('/b', { leaseMs: 2_000 }));
    lock.signal.addEventListener('abort', note);
    await engine.settle(
      client.locks.withLock('/a', async () => {
        // Its deadline comes before the lease: the service's one timer is set anew, in here.
        const other = await client.locks.acquire('/x', { waitMs: 100 });
        await client.sleep(3_000);
        await other.release();
      }),
    );
    expect(seen).toEqual([undefined]);
  });

  it('a signal of a lock that another call finds to be lost', async () => {
    const lock = await engine.settle(client.locks.acquire('/b', { leaseMs: 500 }));
    lock.signal.addEventListener('abort', note);
    let open!: () => void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const finding = client.locks.withLock('/a', async () => {
      await gate;
      return lock.isHeld();
    });
    await engine.runFor(100);
    client.process.pause();
    await engine.runFor(600);
    open();
    await promisesSettled();
    expect(seen).toEqual([undefined]);
    client.process.resume();
    expect(await engine.settle(finding)).toBe(false);
  });

  it('events', async () => {
    client.locks.events$.subscribe(note);
    await engine.settle(
      client.locks.withLock('/a', async () => {
        const inner = await client.locks.acquire('/b');
        await inner.release();
      }),
    );
    expect(seen).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('snapshots', async () => {
    await engine.settle(
      client.locks.withLock('/a', async () => {
        const watching = client.locks.watch('/b').subscribe(note);
        await client.sleep(100);
        const inner = await client.locks.acquire('/b');
        await client.sleep(100);
        await inner.release();
        watching.unsubscribe();
      }),
    );
    expect(seen.length).toBeGreaterThan(1);
    expect(new Set(seen)).toEqual(new Set([undefined]));
  });
});
