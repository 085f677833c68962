import { channel } from 'node:diagnostics_channel';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type AcquireMessage, LOCK_CHANNELS } from '../../../lib/lock/channels.js';
import type { LockHandle } from '../../../lib/lock/handle.js';
import { remove, set } from '../../../lib/session/requests.js';
import { Heard } from '../../support/traces/heard.js';
import { type Client, rejection } from './support/engine-world.js';
import { useEngine } from './support/use-engine.js';

const KEY = '/locks/report';

describe('The channel of those that join a queue', () => {
  const { engine, one, two } = useEngine('one', 'two');
  let heard: Heard;

  beforeEach(() => void (heard = new Heard()));
  afterEach(() => heard.stop());

  const aheads = (): (number | undefined)[] => heard.enqueued.map(({ ahead }) => ahead);
  const held = (client: Client): Promise<LockHandle> => engine.settle(client.locks.acquire(KEY));

  it('tells of each call while it waits, and of one that need not wait with 0', async () => {
    await held(one);
    expect(aheads()).toEqual([0]);
    for (const client of [two, one, two]) {
      client.locks.acquire(KEY).catch(() => undefined);
      await engine.runFor(100);
    }
    expect(aheads()).toEqual([0, 1, 2, 3]);
    expect(heard.acquires).toHaveLength(1);
    expect(heard.enqueued.map(({ outcome }) => outcome)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('tells of a call once, however often its queue is read, and as others join and leave', async () => {
    const lock = await held(one);
    const locks = [two, one, two, two, one].map((client) => client.locks.acquire(KEY));
    await engine.runFor(500);
    engine.faults.refuse(two.process);
    await engine.runUntil(() => two.session.state === 'suspended');
    engine.faults.accept(two.process);
    await engine.runUntil(() => two.session.state === 'reconnected');
    void lock.release();
    for (const each of locks) void each.then((next) => next.release());
    await engine.settle(Promise.all(locks));
    expect(aheads().sort()).toEqual([0, 1, 2, 3, 4, 5]);
    expect(heard.acquires.map(({ ahead }) => ahead).sort()).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('tells of it again when the call has lost its place, and joins again', async () => {
    await held(one);
    two.locks.acquire(KEY).catch(() => undefined);
    await engine.runFor(200);
    const last = one.locks.acquire(KEY);
    last.catch(() => undefined);
    await engine.runFor(200);
    engine.faults.expire(two.session.identity!.id);
    await engine.runUntil(() => heard.enqueued.length === 4);
    expect(aheads()).toEqual([0, 1, 2, 2]);
    const [, first, , again] = heard.all.filter(({ what }) => what === 'enqueue');
    expect(again!.original).toBe(first!.original);
  });

  it('tells of it again when somebody has removed its node', async () => {
    const { nodePath } = await held(one);
    two.locks.acquire(KEY).catch(() => undefined);
    await engine.runFor(200);
    const [name] = engine.queue(KEY).filter((other) => !nodePath.endsWith(other));
    await engine.settle(two.session.batch([remove(`${KEY}/${name}`)]));
    await engine.runUntil(() => heard.enqueued.length === 3);
    expect(aheads()).toEqual([0, 1, 1]);
  });

  it('tells of all in a queue that hangs, also of those whom their process does not look for before the queue moves', async () => {
    await held(one);
    const COUNT = 100;
    for (let index = 0; index < COUNT; index += 1) {
      two.locks.acquire(KEY).catch(() => undefined);
      if (index % 10 === 0) await engine.runFor(100);
    }
    await engine.runFor(1_000);
    // Somebody else comes in between, so that numbers do not tell what lists would.
    one.locks.acquire(KEY).catch(() => undefined);
    await engine.runFor(200);
    two.locks.acquire(KEY).catch(() => undefined);
    await engine.runFor(1_000);
    expect(heard.enqueued).toHaveLength(COUNT + 3);
    expect(Math.max(...(aheads() as number[]))).toBeGreaterThanOrEqual(COUNT);
    expect(new Set(heard.all.filter(({ what }) => what === 'enqueue').map(({ original }) => original)).size).toBe(
      COUNT + 3,
    );
  });

  it('tells of one far behind that joins while the queue is being read', async () => {
    const { nodePath } = await held(one);
    for (let index = 0; index < 70; index += 1) two.locks.acquire(KEY).catch(() => undefined);
    await engine.runFor(1_000);
    for (let times = 1; times <= 20; times += 1) {
      // Somebody writes to the node ahead, after which those who wait look again.
      const wrote = one.session.batch([set(nodePath, Buffer.from(`${times}`))]);
      await engine.runFor(times % 5);
      two.locks.acquire(KEY).catch(() => undefined);
      await engine.settle(wrote);
      await engine.runFor(200);
      expect(heard.enqueued).toHaveLength(1 + 70 + times);
    }
  });

  it('tells nothing of a call that has ended before its place was known', async () => {
    await held(one);
    two.locks.acquire(KEY).catch(() => undefined);
    await engine.runFor(200);
    const abort = new AbortController();
    const aborted = rejection(two.locks.acquire(KEY, { signal: abort.signal }));
    // It has joined, and the look that tells who is ahead is under way.
    await engine.runUntil(() => two.locks.query().pending.every(({ ahead }) => ahead !== undefined));
    expect(heard.enqueued).toHaveLength(2);
    abort.abort();
    await engine.settle(aborted);
    await engine.runFor(500);
    expect(heard.acquires.at(-1)).toMatchObject({ outcome: 'failed', code: 'LOCK_ABORTED' });
    expect(heard.enqueued).toHaveLength(2);
  });

  it('tells of calls also where nobody listens to anything else', async () => {
    heard.stop();
    const told: (number | undefined)[] = [];
    const listener = (message: unknown): void => void told.push((message as AcquireMessage).ahead);
    channel(LOCK_CHANNELS.enqueue).subscribe(listener);
    try {
      await held(one);
      two.locks.acquire(KEY).catch(() => undefined);
      await engine.runFor(200);
      expect(told).toEqual([0, 1]);
    } finally {
      channel(LOCK_CHANNELS.enqueue).unsubscribe(listener);
    }
  });
});
