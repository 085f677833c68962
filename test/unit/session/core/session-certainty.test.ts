import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { create } from '../../../../lib/session/requests.js';
import { serve } from '../../support/serving.js';
import { SessionWorld } from '../../support/session-world.js';
import { replyTo } from '../../../support/sessions/reply-to.js';

async function served(grantMs: number, serverTickMs: number, latencyMs: () => number): Promise<SessionWorld> {
  const world = new SessionWorld({ sessionTimeoutMs: grantMs, serverTickMs });
  serve({ clock: world.clock, dialer: world.dialer, grantMs, latencyMs });
  await world.clock.advance(100);
  expect(world.client.state).toBe('connected');
  return world;
}

/** Looks at certainty every few milliseconds. */
async function certainThroughout(world: SessionWorld, ms: number): Promise<boolean> {
  for (let passed = 0; passed < ms; passed += 7) {
    if (world.client.certainUntil() <= world.clock.now()) return false;
    await world.clock.advance(7);
  }
  return true;
}

/** Sends a create and lets it be answered. */
async function acquire(world: SessionWorld, latencyMs = 20): Promise<void> {
  const made = replyTo(world.client, create('/a', 'ephemeral'));
  await world.clock.advance(latencyMs);
  await made;
}

/** What a lock asks for before it is held: two margins. With less, the write that is to renew it may come too late. */
const NEEDED_MS = 100;

/** Waits for the proof, and not a moment longer. */
async function proveLife(world: SessionWorld, withinMs: number): Promise<void> {
  let proved = false;
  const done = world.client.proveLife(NEEDED_MS).then(() => (proved = true));
  for (let waitedMs = 0; !proved && waitedMs < withinMs; waitedMs += 1) await world.clock.advance(1);
  expect(proved).toBe(true);
  await done;
}

describe('A session that holds something', () => {
  it.each([
    [4_000, 2_000],
    [1_000, 500],
    [8_000, 2_000],
    [10_000, 2_000],
  ])('never becomes uncertain while it is healthy, with S %d ms and a tick of %d ms', async (grantMs, tickMs) => {
    const world = await served(grantMs, tickMs, () => 5);
    await acquire(world);
    world.client.keepCertain();
    expect(await certainThroughout(world, 10 * grantMs)).toBe(true);
    expect(world.client.certainSince()).toBe(1_000 + 5);
  });

  it('never becomes uncertain with two ticks either, the least a server grants, whenever in its life it began to hold', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 6_000 }),
        fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 20 }),
        async (idleMs, latencies) => {
          let next = 0;
          const world = await served(1_000, 500, () => latencies[next++ % latencies.length]!);
          await world.clock.advance(idleMs);
          await acquire(world);
          await proveLife(world, 600);
          world.client.keepCertain();
          expect(await certainThroughout(world, 5_000)).toBe(true);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('writes every quarter of S at most where S is four ticks or more', async () => {
    const world = await served(8_000, 2_000, () => 5);
    await acquire(world);
    world.client.keepCertain();
    await world.clock.advance(80_000);
    const writes = world.link.operations().filter((op) => op === 'set').length;
    expect(writes).toBeGreaterThan(30);
    expect(writes).toBeLessThanOrEqual(41);
  });

  it('loses certainty, before any event, when the loop was blocked for longer than S', async () => {
    const world = await served(10_000, 2_000, () => 5);
    await acquire(world);
    world.client.keepCertain();
    await world.clock.advance(30_000);
    world.clock.block(10_000);
    expect(world.client.certainUntil()).toBeLessThan(world.clock.now());
    const lostAt = world.clock.now();
    await world.clock.advance(10_000);
    expect(world.client.state).toBe('connected');
    expect(world.client.certainUntil()).toBeGreaterThan(world.clock.now());
    // It survived, but what was held before is lost.
    expect(world.client.certainSince()).toBeGreaterThanOrEqual(lostAt);
  });
});

describe('Who wants a proof of life', () => {
  it('gets it after idling within a tick and a round trip', async () => {
    const world = await served(4_000, 2_000, () => 5);
    await world.clock.advance(20_000);
    expect(world.client.certainUntil()).toBeLessThan(world.clock.now());
    await proveLife(world, 2_000 + 20);
    expect(world.client.certainUntil()).toBeGreaterThan(world.clock.now());
  });
});
