import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FencedZnodes, type ZnodeFence } from '../../../../lib/fencing/znodes/fenced-znodes.js';
import { type LockTicket, ticketOf } from '../../../../lib/fencing/znodes/ticket.js';
import { LockClosedError, LockUnavailableError } from '../../../../lib/lock/errors.js';
import { type Client, EngineWorld } from '../../engine/support/engine-world.js';

const WAIT_MS = 500;
const PATH = '/a';

describe('A call of FencedZnodes settles by its deadline', () => {
  let world: EngineWorld;
  let client: Client;
  let znodes: FencedZnodes;
  let ticket: LockTicket;

  beforeEach(async () => {
    world = new EngineWorld();
    client = await world.client('writer', { waitMs: WAIT_MS });
    znodes = new FencedZnodes({ locks: client.locks, root: '/data' });
    const holder = await world.client('holder');
    ticket = ticketOf(await world.settle(holder.locks.acquire('/locks/a')));
    await world.settle(znodes.write(PATH, 'old', ticket));
  });
  afterEach(() => world.end());

  const calls: [string, (fence: ZnodeFence) => Promise<unknown>, string][] = [
    ['a write, in doubt', (fence) => znodes.write(PATH, 'new', fence), 'it may or may not have been carried out'],
    ['a removal, in doubt', (fence) => znodes.remove(PATH, fence), 'it may or may not have been carried out'],
    ['a claim', (fence) => znodes.claim(PATH, fence), `Nothing was done to ${PATH}`],
    ['a read', () => znodes.read(PATH), `Nothing was done to ${PATH}`],
  ];

  it.each(calls)('over a link that has gone silent: %s', async (_, call, whatIsKnown) => {
    const lock = await world.settle(client.locks.acquire('/locks/b'));
    world.faults.blackHole(client.process);
    for (const [fence, expected] of [
      [lock, whatIsKnown],
      // Of a ticket the servers are asked first.
      [ticket, `Nothing was done to ${PATH}`],
    ] as const) {
      const startedAt = client.process.clock.now();
      const failure = await world.failure(call(fence));
      expect(failure).toBeInstanceOf(LockUnavailableError);
      expect(failure.details).toContain(expected);
      expect(client.process.clock.now() - startedAt).toBe(WAIT_MS);
    }
    expect(client.session.state).toBe('connected');
  });

  it.each(calls)('while the service closes, at once and without spinning: %s', async (_, call) => {
    world.faults.blackHole(client.process);
    const closing = client.locks.close(0);
    await world.runFor(1);
    const startedAt = client.process.clock.now();
    const failure = await world.failure(call(ticket));
    expect(failure).toBeInstanceOf(LockClosedError);
    expect(client.process.clock.now()).toBe(startedAt);
    await world.settle(closing);
  });

  it.each([
    [WAIT_MS, LockUnavailableError],
    // The close gives up on the link before that.
    [20 * WAIT_MS, LockClosedError],
  ])('that waits for a link which stays away, when the service closes: with %i ms', async (waitMs, expected) => {
    const other = await world.client('closing', { waitMs });
    const writer = new FencedZnodes({ locks: other.locks, root: '/data' });
    world.faults.refuse(other.process);
    await world.runFor(10);
    expect(other.session.state).toBe('suspended');
    const startedAt = other.process.clock.now();
    const writing = writer.write(PATH, 'new', ticket);
    const closing = other.locks.close(0);
    const failure = await world.failure(writing);
    expect(failure).toBeInstanceOf(expected);
    expect(failure.details).toContain(`Nothing was done to ${PATH}`);
    expect(other.process.clock.now() - startedAt).toBeLessThanOrEqual(waitMs);
    await world.settle(closing);
  });

  it('that waits for a link which comes back while the service closes: it has an answer, or says that it is closed', async () => {
    for (const backAfterMs of [0, 1, 2, 5, 10, 50]) {
      const other = await world.client(`other ${backAfterMs}`, { waitMs: WAIT_MS });
      const reader = new FencedZnodes({ locks: other.locks, root: '/data' });
      world.faults.refuse(other.process);
      await world.runFor(10);
      expect(other.session.state).toBe('suspended');
      const reading = reader.read(PATH).then(
        (value) => value?.data.toString(),
        (error: unknown) => error,
      );
      const closing = other.locks.close(0);
      await world.runFor(backAfterMs);
      world.faults.accept(other.process);
      const outcome = await world.settle(reading);
      if (outcome !== 'old') expect(outcome).toBeInstanceOf(LockClosedError);
      await world.settle(closing);
      expect(await world.failure(reader.read(PATH))).toBeInstanceOf(LockClosedError);
    }
  });
});
