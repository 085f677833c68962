import { describe, expect, it } from '@jest/globals';
import { LockStage } from '../../support/locks/lock-stage.js';
import { SESSION_MS, SLACK_MS } from '../../support/locks/times.js';
import { eventually, within } from '../../support/process/eventually.js';

describe('No resurrection, with one server,', () => {
  const stage = new LockStage();

  it('a holder whose session expired keeps a lost handle, and the next one of its own is a new one', async () => {
    const [client, other] = [await stage.open({ sessionTimeoutMs: SESSION_MS }), await stage.open()];
    const { key, lock, waiting } = await stage.contend(client, other);

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

  it('a contender whose session expired queues again in the new one, and an event says so', async () => {
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

  it('a holder that is told of an expiry that never was leaves what goes with the old session, at once', async () => {
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

  it('a contender that is told of an expiry that never was does not wait behind its own old node', async () => {
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
