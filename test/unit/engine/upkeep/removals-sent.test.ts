import { beforeEach, describe, expect, it } from '@jest/globals';
import { promisesSettled } from '../../support/manual-clock.js';
import { rejection } from '../support/engine-world.js';
import { janitorOf } from '../support/scripted-engine.js';
import { ScriptedSession } from '../support/scripted-session.js';
import { useEngine } from '../support/use-engine.js';

const KEY = '/locks/a';

describe('what is sent', () => {
  const { engine, one } = useEngine('one');
  /** What was released by the time the session was last told to let all of it leave. */
  let left: number;
  beforeEach(() => {
    left = 0;
    const { session } = one;
    const flush = session.flush.bind(session);
    session.flush = () => {
      left = one.events.filter(({ type }) => type === 'released').length;
      return flush();
    };
  });

  it('leaves before withLock resolves, or rejects with the error of its work', async () => {
    const done = one.locks.withLock(KEY, () => 'done').then(() => left);
    expect(await engine.settle(done)).toBe(1);
    const failed = rejection(one.locks.withLock(KEY, () => Promise.reject(new Error('own')))).then(() => left);
    expect(await engine.settle(failed)).toBe(2);
  });

  it('leaves before withLock resolves, also behind a wait where the session has no transactions to leave a mark in', async () => {
    const held = await engine.settle(one.locks.acquire(KEY));
    const plain = await engine.client('plain', {}, { isPlain: true });
    const { session } = plain;
    const batch = session.batch.bind(session);
    const flush = session.flush.bind(session);
    const asked: string[] = [];
    let askedByFlush: readonly string[] = [];
    session.batch = (requests) => {
      asked.push(...requests.map(({ op }) => op));
      return batch(requests);
    };
    session.flush = () => {
      askedByFlush = [...asked];
      return flush();
    };
    const done = plain.locks.withLock(KEY, () => void asked.splice(0)).then(() => askedByFlush);
    await engine.runUntil(() => engine.queue(KEY).length === 2);
    await engine.runFor(100);
    await engine.settle(held.release());
    expect(await engine.settle(done)).toEqual(['delete']);
  });

  it.each([
    ['was aborted', (abort: AbortController) => abort.abort()],
    ['timed out', () => undefined],
    ['the closing ends', () => one.locks.refuseNewRequests()],
  ])('leaves before acquireAll that %s is told of, for what it had', async (_why, end) => {
    const other = await engine.client('other');
    await engine.settle(other.locks.acquire('/locks/z'));
    const abort = new AbortController();
    const taking = one.locks.acquireAll([KEY, '/locks/z'], { signal: abort.signal, waitMs: 2_000 });
    const ended = rejection(taking).then(() => [left, one.events.filter(({ type }) => type === 'released').length]);
    await engine.runFor(100);
    end(abort);
    expect(await engine.settle(ended)).toEqual([1, 1]);
  });

  it('leaves before a wait in vain is told of', async () => {
    await engine.settle(one.locks.acquire(KEY));
    const other = await engine.client('other');
    let queueAtFlush: number | undefined;
    const { session } = other;
    const batch = session.batch.bind(session);
    const sent: string[] = [];
    session.batch = (requests) => {
      sent.push(...requests.map(({ op }) => op));
      return batch(requests);
    };
    session.flush = () => void (queueAtFlush = sent.filter((op) => op === 'delete').length);
    const waiting = rejection(other.locks.acquire(KEY, { waitMs: 500 })).then(({ name }) => [name, queueAtFlush]);
    expect(await engine.settle(waiting)).toEqual(['LockTimeoutError', 1]);
  });
});

describe('what a janitor has sent', () => {
  it('leaves once for all whose promises go on together', async () => {
    const session = new ScriptedSession();
    let flushes = 0;
    session.flush = () => void (flushes += 1);
    const janitor = janitorOf(session.asSession, () => undefined);
    await Promise.all(Array.from({ length: 50 }, async () => janitor.removalsSent()));
    expect(flushes).toBe(1);
    await janitor.removalsSent();
    expect(flushes).toBe(2);
  });

  it('is waited for with a kernel that is about to take it, and not for one that takes nothing', async () => {
    const session = new ScriptedSession();
    const janitor = janitorOf(session.asSession, () => undefined);
    let leave: () => void = () => undefined;
    session.leaving = new Promise((resolve) => (leave = resolve));
    let emptied = 0;
    void janitor.removalsSent().then(() => (emptied += 1));
    await promisesSettled();
    expect(emptied).toBe(0);
    leave();
    await promisesSettled();
    expect(emptied).toBe(1);

    session.leaving = new Promise(() => undefined);
    void janitor.removalsSent().then(() => (emptied += 1));
    await session.clock.advance(99);
    expect(emptied).toBe(1);
    await session.clock.advance(2);
    expect(emptied).toBe(2);
  });
});
