import { describe, expect, it } from '@jest/globals';
import { LockConfigurationError, LockTimeoutError, LockUnavailableError } from '../../../lib/lock/errors.js';
import type { LockMode } from '../../../lib/lock/mode.js';
import { create } from '../../../lib/session/requests.js';
import { type Client, rejection } from './support/engine-world.js';
import { replyTo } from '../../support/sessions/reply-to.js';
import { useEngine } from './support/use-engine.js';

const KEY = '/locks/orders';
const INSIDE_THE_SAME =
  /A call inside the same lock holds it \(acquired by first [34]\d\d ms ago\): if that one waits for this one, it waits for itself$/;
const ISO = '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z';

/** The reads of single nodes that a client sends, and which may still set no watch. */
function readsOf({ session }: Client): string[] {
  const reads: string[] = [];
  const batch = session.batch.bind(session);
  session.batch = ((requests: readonly { op: string; path: string; watch?: unknown }[]) => {
    for (const { op, path, watch } of requests) if (op === 'get' && watch === undefined) reads.push(path);
    return batch(requests as never);
  }) as typeof session.batch;
  return reads;
}

describe('a LOCK_TIMEOUT', () => {
  const { engine, one, other } = useEngine('one', 'other');

  it('says who holds the lock to who is next in line, without another read: label, host, process, and since when', async () => {
    await engine.settle(one.locks.acquire(KEY, { label: 'Orders.pay' }));
    const reads = readsOf(other);
    const error = await engine.failure(other.locks.acquire(KEY, { waitMs: 500 }));

    expect(error).toBeInstanceOf(LockTimeoutError);
    expect(error.details).toMatch(
      new RegExp(
        `^The lock ${KEY} was still busy after 500 ms. It is held by Orders.pay on \\S+ \\(pid ${process.pid}\\), in the queue since ${ISO}$`,
      ),
    );
    expect(error.message).toBe('The lock is busy: others held it for the whole time that this call could wait');
    expect(reads).toEqual([]);
  });

  it('says who holds the lock to who is further back, with one read shortly before the end', async () => {
    const holder = await engine.settle(one.locks.acquire(KEY, { label: 'holder' }));
    const next = rejection(one.locks.acquire(KEY, { label: 'next', reentrant: false }));
    await engine.runFor(50);
    const reads = readsOf(other);
    const startedAt = engine.world.now();
    const waiting = rejection(other.locks.acquire(KEY, { waitMs: 2_000 }));
    await engine.runFor(1_850);
    expect(reads).toEqual([]);

    expect((await engine.settle(waiting)).details).toContain('It is held by holder on ');
    expect(engine.world.now() - startedAt).toBeLessThan(2_010);
    expect(reads).toEqual([holder.nodePath]);
    await engine.settle(holder.release());
    await engine.settle(next);
  });

  it('comes by the deadline where no answer says who holds the lock', async () => {
    await engine.settle(one.locks.acquire(KEY));
    const next = rejection(one.locks.acquire(KEY));
    await engine.runFor(50);
    const startedAt = engine.world.now();
    const waiting = rejection(other.locks.acquire(KEY, { waitMs: 1_000 }));
    await engine.runFor(850);
    engine.faults.blackHole(other.process);
    const error = await engine.settle(waiting);

    expect(engine.world.now() - startedAt).toBeLessThan(1_010);
    expect(error).toBeInstanceOf(LockTimeoutError);
    expect(error.details).toContain('Others hold it, or are ahead in the queue: inspect(key) says who');
    engine.faults.pass(other.process);
    void next;
  });

  it('asks nobody who holds the lock while the link is down', async () => {
    await engine.settle(one.locks.acquire(KEY));
    const next = rejection(one.locks.acquire(KEY));
    await engine.runFor(50);
    const waiting = rejection(other.locks.acquire(KEY, { waitMs: 1_000 }));
    await engine.runFor(100);
    const reads = readsOf(other);
    engine.faults.refuse(other.process);

    expect(await engine.settle(waiting)).toBeInstanceOf(LockUnavailableError);
    expect(reads).toEqual([]);
    engine.faults.accept(other.process);
    void next;
  });

  it('says that the holder has vanished, while the lock-delay behind it runs', async () => {
    const delaying = await engine.client('delaying', { lockDelayMs: 5_000 });
    const late = await engine.client('late', { lockDelayMs: 5_000 });
    await engine.settle(delaying.locks.acquire(KEY, { label: 'crashed' }));
    const waiting = rejection(late.locks.acquire(KEY, { waitMs: 3_000 }));
    await engine.runFor(100);
    engine.faults.expire(delaying.session.identity!.id);

    const error = await engine.settle(waiting);
    expect(error).toBeInstanceOf(LockTimeoutError);
    expect(error.details).toMatch(/crashed .* vanished inside, and the lock-delay after it is not over/);
  });

  it('says of a client of another make that holds the lock the name of its node, and its session', async () => {
    await engine.settle(one.session.batch([create('/locks', 'container'), create(KEY, 'container')]));
    await engine.settle(replyTo(one.session, create(`${KEY}/lock-`, 'ephemeral-sequential')));

    expect((await engine.failure(other.locks.acquire(KEY, { waitMs: 500 }))).details).toMatch(
      new RegExp(
        `It is held by another kind of client \\(lock-0000000000, session 0x[0-9a-f]+\\), in the queue since ${ISO}$`,
      ),
    );
  });

  it('says of this process that holds the lock for how long, and what to do where that was the same flow', async () => {
    await engine.settle(one.locks.acquire(KEY, { label: 'Orders.pay' }));
    await engine.runFor(1_234);
    const WHO =
      /This process itself holds it \(acquired by Orders\.pay 1\d{3} ms ago\)\. If .* same flow of calls acquired it, that flow waited for itself/;

    expect((await engine.failure(one.locks.acquire(KEY, { waitMs: 0 }))).details).toMatch(WHO);
    const error = await engine.failure(one.locks.acquire(KEY, { waitMs: 100 }));
    expect(error).toBeInstanceOf(LockTimeoutError);
    expect(error.details).toMatch(WHO);
  });

  it('says of a call inside the same lock that holds it that the waiting one may wait for itself', async () => {
    const error = await engine.settle(
      one.locks.withLock('/locks/outer', async () => {
        await one.locks.acquire(KEY, { label: 'first' });
        await one.sleep(300);
        return rejection(one.locks.acquire(KEY, { waitMs: 100, label: 'second' }));
      }),
    );
    expect(error).toBeInstanceOf(LockTimeoutError);
    expect(error.details).toMatch(INSIDE_THE_SAME);
  });

  it('does not say of two calls side by side in one lock that the second waited for itself', async () => {
    const error = await engine.settle(
      one.locks.withLock('/locks/outer', async () => {
        const first = one.locks.acquire(KEY, { label: 'first' }).then(async (lock) => {
          await one.sleep(1_000);
          await lock.release();
        });
        const second = rejection(one.locks.acquire(KEY, { waitMs: 400 }));
        await first;
        return second;
      }),
    );
    expect(error).toBeInstanceOf(LockTimeoutError);
    expect(error.details).toMatch(INSIDE_THE_SAME);
  });

  it.each<[LockMode, LockMode]>([
    ['read', 'write'],
    ['read', 'exclusive'],
  ])(
    'does not name the own lock held as %s to who only tries, where a contender in mode %s is in the way',
    async (own, theirs) => {
      const held = await engine.settle(one.locks.acquire(KEY, { mode: own, label: 'mine' }));
      const writing = rejection(other.locks.acquire(KEY, { mode: theirs, waitMs: 5_000 }));
      await engine.runFor(50);
      const [, writer] = engine.queue(KEY).sort((left, right) => left.slice(-10).localeCompare(right.slice(-10)));
      const error = await engine.failure(one.locks.acquire(KEY, { mode: 'read', waitMs: 0 }));
      expect(error).toBeInstanceOf(LockTimeoutError);
      expect(error.details).toContain(`Others hold it, or are ahead in the queue (${writer} is the first of them): `);
      await engine.settle(held.release());
      await engine.settle(writing);
    },
  );

  it('names the own lock to who only tries, where an upgrade has put that in the way', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable', label: 'Orders.pay' }));
    await engine.settle(lock.upgrade());
    const error = await engine.failure(one.locks.acquire(KEY, { mode: 'read', waitMs: 0 }));
    expect(error.details).toContain('This process itself holds it (acquired by Orders.pay ');
  });

  it('names the own lock to who only tries that stood in for ZooKeeper, and is still there', async () => {
    const local = await engine.client('local', { local: 'when unavailable' });
    engine.faults.refuse(local.process);
    await engine.runUntil(() => local.session.state === 'lost');
    await engine.settle(local.locks.acquire(KEY, { label: 'standing in' }));
    engine.faults.accept(local.process);
    await engine.runUntil(() => local.locks.connectionState.endsWith('connected'));
    const error = await engine.failure(local.locks.acquire(KEY, { waitMs: 0 }));
    expect(error.details).toContain('This process itself holds it (acquired by standing in ');
  });

  it('says who acquired the lock around a call that may not re-enter it, and when', async () => {
    for (const options of [{ reentrant: false }, { mode: 'write' as const }]) {
      const work = async (): Promise<Error & { details?: string }> => {
        await one.sleep(300);
        return rejection(one.locks.acquire(KEY, options));
      };
      const error = await engine.settle(one.locks.withLock(KEY, work, { mode: 'read', label: 'Orders.pay' }));
      expect(error).toBeInstanceOf(LockConfigurationError);
      expect(error.details).toMatch(
        /already held (as read )?by this same call \(acquired by Orders\.pay 3\d\d ms ago\)/,
      );
    }
  });

  it('names to an upgrade the reader that it waits for', async () => {
    await engine.settle(one.locks.acquire(KEY, { mode: 'read', label: 'report' }));
    const lock = await engine.settle(other.locks.acquire(KEY, { mode: 'upgradeable' }));

    expect((await engine.failure(lock.upgrade({ waitMs: 500 }))).details).toContain('It is held by report on ');
  });
});
