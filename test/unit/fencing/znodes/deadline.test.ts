import { beforeEach, describe, expect, it } from '@jest/globals';
import { FencedZnodes, type ZnodeFence } from '../../../../lib/fencing/znodes/fenced-znodes.js';
import { type LockTicket, ticketOf } from '../../../../lib/fencing/znodes/ticket.js';
import { LockClosedError, LockUnavailableError } from '../../../../lib/lock/errors.js';
import { useEngineWith } from '../../engine/support/use-engine.js';

const WAIT_MS = 500;
const PATH = '/a';

describe('A call of FencedZnodes settles by its deadline', () => {
  const { engine, writer, holder } = useEngineWith({ waitMs: WAIT_MS }, 'writer', 'holder');
  let znodes: FencedZnodes;
  let ticket: LockTicket;

  beforeEach(async () => {
    znodes = new FencedZnodes({ locks: writer.locks, root: '/data' });
    ticket = ticketOf(await engine.settle(holder.locks.acquire('/locks/a')));
    await engine.settle(znodes.write(PATH, 'old', ticket));
  });

  const calls: [string, (fence: ZnodeFence) => Promise<unknown>, string][] = [
    ['a write, in doubt', (fence) => znodes.write(PATH, 'new', fence), 'it may or may not have been carried out'],
    ['a removal, in doubt', (fence) => znodes.remove(PATH, fence), 'it may or may not have been carried out'],
    ['a claim', (fence) => znodes.claim(PATH, fence), `Nothing was done to ${PATH}`],
    ['a read', () => znodes.read(PATH), `Nothing was done to ${PATH}`],
  ];

  it.each(calls)('it ends over a link that has gone silent: %s', async (_, call, whatIsKnown) => {
    const lock = await engine.settle(writer.locks.acquire('/locks/b'));
    engine.faults.blackHole(writer.process);
    for (const [fence, expected] of [
      [lock, whatIsKnown],
      // Of a ticket the servers are asked first.
      [ticket, `Nothing was done to ${PATH}`],
    ] as const) {
      const startedAt = writer.process.clock.now();
      const failure = await engine.failure(call(fence));
      expect(failure).toBeInstanceOf(LockUnavailableError);
      expect(failure.details).toContain(expected);
      expect(writer.process.clock.now() - startedAt).toBe(WAIT_MS);
    }
    expect(writer.session.state).toBe('connected');
  });

  it.each(calls)('it ends while the service closes, at once and without spinning: %s', async (_, call) => {
    engine.faults.blackHole(writer.process);
    const closing = writer.locks.close(0);
    await engine.runFor(1);
    const startedAt = writer.process.clock.now();
    const failure = await engine.failure(call(ticket));
    expect(failure).toBeInstanceOf(LockClosedError);
    expect(writer.process.clock.now()).toBe(startedAt);
    await engine.settle(closing);
  });

  it.each([
    [WAIT_MS, LockUnavailableError],
    // The close gives up on the link before that.
    [20 * WAIT_MS, LockClosedError],
  ])(
    'it ends when it waits for a link which stays away, and the service closes: with %i ms',
    async (waitMs, expected) => {
      const other = await engine.client('closing', { waitMs });
      const writer = new FencedZnodes({ locks: other.locks, root: '/data' });
      engine.faults.refuse(other.process);
      await engine.runFor(10);
      expect(other.session.state).toBe('suspended');
      const startedAt = other.process.clock.now();
      const writing = writer.write(PATH, 'new', ticket);
      const closing = other.locks.close(0);
      const failure = await engine.failure(writing);
      expect(failure).toBeInstanceOf(expected);
      expect(failure.details).toContain(`Nothing was done to ${PATH}`);
      expect(other.process.clock.now() - startedAt).toBeLessThanOrEqual(waitMs);
      await engine.settle(closing);
    },
  );

  it('it has an answer, or says that the service is closed, when its link comes back while that closes', async () => {
    for (const backAfterMs of [0, 1, 2, 5, 10, 50]) {
      const other = await engine.client(`other ${backAfterMs}`, { waitMs: WAIT_MS });
      const reader = new FencedZnodes({ locks: other.locks, root: '/data' });
      engine.faults.refuse(other.process);
      await engine.runFor(10);
      expect(other.session.state).toBe('suspended');
      const reading = reader.read(PATH).then(
        (value) => value?.data.toString(),
        (error: unknown) => error,
      );
      const closing = other.locks.close(0);
      await engine.runFor(backAfterMs);
      engine.faults.accept(other.process);
      const outcome = await engine.settle(reading);
      if (outcome !== 'old') expect(outcome).toBeInstanceOf(LockClosedError);
      await engine.settle(closing);
      expect(await engine.failure(reader.read(PATH))).toBeInstanceOf(LockClosedError);
    }
  });
});
