import { describe, expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import { LockStage } from '../../support/locks/lock-stage.js';
import { SESSION_MS, SLACK_MS } from '../../support/locks/times.js';
import { noteAbort, untilPassed } from '../../support/locks/witness.js';
import { eventually, within } from '../../support/process/eventually.js';
import { Stalls } from '../../support/process/stalls.js';

describe('No resurrection: one server', () => {
  const stage = new LockStage();

  it('of a holder whose session expired: its handle stays lost, and the next one of its own is a new one', async () => {
    const [client, other] = [await stage.open({ sessionTimeoutMs: SESSION_MS }), await stage.open()];
    const key = stage.freshKey();
    const lock = await client.service.acquire(key);
    const waiting = other.service.acquire(key);
    await stage.untilQueueHas(key, 2);

    await stage.expire(client);
    const next = await waiting;
    await client.untilUp();

    expect(lock.isHeld()).toBe(false);
    expect(client.eventsOf('lost')).toMatchObject([{ reason: 'uncertain' }]);
    await next.release();
    const again = await client.service.acquire(key);
    expect(lock.isHeld()).toBe(false);
    expect(again.fencingToken).toBeGreaterThan(next.fencingToken);
    // The handle of a lost lock releases nothing that is not its own.
    await lock.release();
    expect(again.isHeld()).toBe(true);
    await again.release();
  });

  it('of a contender whose session expired: it queues again in the new one, and an event says so', async () => {
    const [client, other] = [await stage.open({ sessionTimeoutMs: SESSION_MS }), await stage.open()];
    const key = stage.freshKey();
    const lock = await other.service.acquire(key);
    const waiting = client.service.acquire(key, { label: 'patient' });
    const [, place] = await stage.untilQueueHas(key, 2);

    await stage.expire(client);
    await client.untilUp();
    const [, newPlace] = await stage.untilQueueHas(key, 2);

    expect(newPlace).not.toBe(place);
    expect(client.eventsOf('requeued')).toMatchObject([{ key, reason: 'session-ended', label: 'patient' }]);
    await lock.release();
    const next = await waiting;
    expect(next.nodePath).toBe(`${key}/${newPlace}`);
    expect(next.isHeld()).toBe(true);
    await next.release();
  });

  it('of a holder that is told of an expiry that never was: its leftover goes with the old session, at once', async () => {
    const client = await stage.open();
    const key = stage.freshKey();
    const lock = await client.service.acquire(key);
    const oldSession = client.sessionId();

    await client.lieAboutExpiry();
    expect(await stage.sessionIds()).toContain(oldSession);
    await client.untilUp();

    expect(lock.isHeld()).toBe(false);
    expect(client.eventsOf('lost')).toMatchObject([{ reason: 'session-ended' }]);
    const next = await within(SLACK_MS, 'the next lock', client.service.acquire(key));
    expect(next.fencingToken).toBeGreaterThan(lock.fencingToken);
    expect(await stage.queue(key)).toEqual([next.nodePath.slice(key.length + 1)]);
    await next.release();
  });

  it('of a contender that is told of an expiry that never was: it does not wait behind its own old node', async () => {
    const [client, other] = [await stage.open(), await stage.open()];
    const key = stage.freshKey();
    const lock = await other.service.acquire(key);
    const waiting = client.service.acquire(key);
    const [, oldPlace] = await stage.untilQueueHas(key, 2);

    await client.lieAboutExpiry();
    const isRequeued = async (): Promise<boolean> => {
      const [, second, third] = await stage.queue(key);
      return second !== undefined && second !== oldPlace && third === undefined;
    };
    await eventually('it queues again, and its old place is given up', isRequeued, { withinMs: SESSION_MS });
    await lock.release();
    const next = await within(SLACK_MS, 'the hand-over', waiting);
    expect(next.isHeld()).toBe(true);
    await next.release();
  });
});

describe('No resurrection: three servers', () => {
  const stage = new LockStage(3);

  it('when the quorum is away for three times S and the session survives', async () => {
    const holder = await stage.open({ sessionTimeoutMs: SESSION_MS });
    const waiter = await stage.open({ sessionTimeoutMs: SESSION_MS, waitMs: 60_000 });
    const key = stage.freshKey();
    const lock = await holder.service.acquire(key);
    const abort = noteAbort(lock);
    const waiting = waiter.service.acquire(key);
    const [, place] = await stage.untilQueueHas(key, 2);
    const session = holder.sessionId();

    const [killed, alsoKilled] = await stage.ensemble.followers();
    await Promise.all([killed?.kill(), alsoKilled?.kill()]);
    using stalls = Stalls.watch();
    const goneAt = performance.now();
    await eventually('the holder is told', () => abort.at !== undefined);
    expect((abort.at ?? Infinity) - goneAt).toBeLessThan(SESSION_MS + SLACK_MS + stalls.totalMs);
    expect(lock.isHeld()).toBe(false);
    await untilPassed(3 * SESSION_MS, goneAt);
    await Promise.all([killed?.start(), alsoKilled?.start()]);
    await stage.ensemble.waitForQuorum();

    // The session lived on, yet its node is removed: nobody else could have done that.
    const next = await within(30_000, 'the hand-over', waiting);
    expect(await stage.sessionIds()).toContain(session);
    expect(holder.sessionId()).toBe(session);
    expect(holder.eventsOf('lost')).toMatchObject([{ reason: 'uncertain' }]);
    expect(lock.isHeld()).toBe(false);
    // Who only waited has kept its place.
    expect(next.nodePath).toBe(`${key}/${place}`);
    expect(waiter.eventsOf('requeued')).toEqual([]);
    await next.release();
  }, 90_000);

  it('while a leader is killed and another elected within S, nothing is lost', async () => {
    const client = await stage.open();
    const key = stage.freshKey();
    const lock = await client.service.acquire(key);
    const leader = await stage.ensemble.leader();
    await leader.kill();
    await stage.ensemble.leader();
    await client.untilUp();
    await lock.whenSure();
    expect(lock.isHeld()).toBe(true);
    expect(client.eventsOf('lost')).toEqual([]);
    await leader.start();
    await stage.ensemble.waitForQuorum();
    await lock.release();
  }, 60_000);
});
