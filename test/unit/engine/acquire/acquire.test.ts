import { describe, expect, it } from '@jest/globals';
import type { Engine } from '../../../../lib/engine/build-engine.js';
import {
  LockConfigurationError,
  LockLostError,
  LockTimeoutError,
  LockUnavailableError,
} from '../../../../lib/lock/errors.js';
import type { LockEvent } from '../../../../lib/lock/events.js';
import { DRAIN_MARKER } from '../../../../lib/queue/intervention.js';
import { SessionError } from '../../../../lib/session/errors.js';
import {
  type Children,
  remove,
  type Reply,
  type Request,
  set,
  type Watcher,
} from '../../../../lib/session/requests.js';
import { ours } from '../../queue/names.js';
import { promisesSettled } from '../../support/manual-clock.js';
import { stat } from '../../support/session-world.js';
import { rejection } from '../support/engine-world.js';
import { acquireLock, scriptedEngine } from '../support/scripted-engine.js';
import { ScriptedSession } from '../support/scripted-session.js';
import { useEngine } from '../support/use-engine.js';

const KEY = '/locks/a';

/** A server with one queue, for one contender. */
function serve(session: ScriptedSession): void {
  let node = '';
  let sequence = 0;
  session.answer = (request: Request): Reply | 'NO_NODE' => {
    if (request.op === 'get')
      return request.path.endsWith(DRAIN_MARKER) ? 'NO_NODE' : { data: new Uint8Array(0), stat: stat() };
    if (request.op === 'create' && request.mode === 'ephemeral-sequential')
      node = `${request.path}${String((sequence += 1)).padStart(10, '0')}`;
    if (request.op === 'create') return { path: node, stat: stat({ czxid: 7n, ephemeralOwner: 1n }) };
    if (request.op === 'list') return { children: [node.slice(KEY.length + 1)], stat: stat() };
    return undefined;
  };
}

function given(): { session: ScriptedSession; engine: Engine } {
  const session = new ScriptedSession();
  serve(session);
  return { session, engine: scriptedEngine(session) };
}

/** A contender with one other in front of it, which has watches on both. */
async function waitingBehindOne() {
  const { session, engine } = given();
  const serveAlone = session.answer;
  const watchers: Watcher[] = [];
  let lists = 0;
  session.answer = (request) => {
    if (request.op === 'get' && request.watch !== undefined) watchers.push(request.watch);
    const reply = serveAlone(request);
    if (request.op !== 'list') return reply;
    lists += 1;
    const { children } = reply as Children;
    return { children: lists === 1 ? [...children, ours('exclusive', 0)] : children, stat: stat() };
  };
  const waiting = acquireLock(engine, KEY);
  await promisesSettled();
  const [own, obstacle] = watchers;
  return { session, engine, waiting, own: own!, obstacle: obstacle! };
}

describe('an acquire whose heartbeat is refused', () => {
  it('goes on where that is for a while, for no fault of the caller', async () => {
    const { session, engine } = given();
    let asked = 0;
    session.proveLife = async () => {
      asked += 1;
      if (asked === 1) throw new SessionError('QUOTA_EXCEEDED', 'scripted');
      session.certainUntilMs = session.clock.now() + 3_900;
    };

    const { hold } = await acquireLock(engine, KEY);
    expect(hold.isHeld()).toBe(true);
    expect(asked).toBe(2);
  });
});

describe('an acquire never resolves with a lock that is not held', () => {
  it('looks again when the proof of life is as good as used up by the time it is looked at', async () => {
    const { session, engine } = given();
    let proofs = 0;
    session.proveLife = async () => {
      proofs += 1;
      // The event loop was blocked for long after the first answer.
      session.certainUntilMs = session.clock.now() + (proofs === 1 ? 1 : 3_000);
    };
    const { hold, handle } = await acquireLock(engine, KEY);
    expect([hold.isHeld(), proofs]).toEqual([true, 2]);
    expect(handle.remainingMs()).toBeGreaterThan(2_000);
  });

  it('queues again when its node is removed between its turn and the proof of life', async () => {
    const { session, engine, waiting, own, obstacle } = await waitingBehindOne();
    session.proveLife = async () => {
      session.certainUntilMs = session.clock.now() + 3_000;
      own.onWatchEvent({ type: 'deleted', path: 'own' });
    };
    const events: string[] = [];
    engine.events.subscribe(({ type }) => events.push(type));
    obstacle.onWatchEvent({ type: 'deleted', path: 'ahead' });
    const { hold } = await waiting;
    expect([hold.isHeld(), events]).toEqual([true, ['requeued', 'acquired']]);
  });

  it('queues again when it is lost in the turn of the event loop in which it began, of which nobody has heard', async () => {
    const { session, engine, waiting, own, obstacle } = await waitingBehindOne();
    session.certainUntilMs = Number.MAX_SAFE_INTEGER;
    const events: string[] = [];
    engine.events.subscribe((event) => events.push('reason' in event ? `${event.type}: ${event.reason}` : event.type));
    obstacle.onWatchEvent({ type: 'deleted', path: 'ahead' });
    own.onWatchEvent({ type: 'deleted', path: 'own' });
    const { hold } = await waiting;
    expect(hold.isHeld()).toBe(true);
    expect(events).toEqual(['acquired', 'lost: removed', 'requeued: lost', 'acquired']);
  });

  it('is told that its time has ended, when it ends in such a turn', async () => {
    const { session, waiting, own, obstacle } = await waitingBehindOne();
    session.certainUntilMs = Number.MAX_SAFE_INTEGER;
    obstacle.onWatchEvent({ type: 'deleted', path: 'ahead' });
    session.clock.pass(60_000);
    own.onWatchEvent({ type: 'deleted', path: 'own' });
    expect(await rejection(waiting)).toBeInstanceOf(LockTimeoutError);
  });
});

describe('a contender that enters as soon as it is in the queue', () => {
  it('queues again where a listener finds the lock lost that it is just being told of', async () => {
    const { session, engine } = given();
    session.certainUntilMs = Number.MAX_SAFE_INTEGER;
    const events: string[] = [];
    engine.events.subscribe((event) => {
      events.push('reason' in event ? `${event.type}: ${event.reason}` : event.type);
      if (events.length > 1) return;
      session.certainUntilMs = 0;
      for (const hold of engine.holders.all()) hold.isHeld();
      session.certainUntilMs = Number.MAX_SAFE_INTEGER;
    });
    const { hold } = await acquireLock(engine, KEY);
    expect(events).toEqual(['acquired', 'lost: uncertain', 'requeued: lost', 'acquired']);
    expect(hold.isHeld()).toBe(true);
  });
});

describe('a session that ended with the answer to the create', () => {
  it('is told of, as others may have seen the contender in the queue: it queues again', async () => {
    const { session, engine } = given();
    const serveAlone = session.answer;
    session.certainUntilMs = Number.MAX_SAFE_INTEGER;
    session.answer = (request) => {
      const isContender = request.op === 'create' && request.mode === 'ephemeral-sequential';
      if (!isContender || session.identity.id === 2n) return serveAlone(request);
      // By the time anybody reads of it, the link is back, in another session.
      session.identity = { id: 2n, timeoutMs: 4_000 };
      return 'CONNECTION_LOSS';
    };
    const events: LockEvent[] = [];
    engine.events.subscribe((event) => events.push(event));
    const { hold } = await acquireLock(engine, KEY);
    expect(hold.isHeld()).toBe(true);
    expect(events).toMatchObject([
      { type: 'requeued', key: KEY, mode: 'exclusive', reason: 'session-ended' },
      { type: 'acquired', key: KEY },
    ]);
  });

  it('leaves nobody behind who counts as being created: the next one lists behind its create as ever', async () => {
    const { session, engine } = given();
    const serveAlone = session.answer;
    session.certainUntilMs = Number.MAX_SAFE_INTEGER;
    let left = 16;
    session.answer = (request) => {
      const reply = serveAlone(request);
      const isContender = request.op === 'create' && request.mode === 'ephemeral-sequential';
      // The answer comes, and the session has ended by the time that its call reads it.
      if (isContender && (left -= 1) >= 0)
        queueMicrotask(() => (session.identity = { id: session.identity.id + 1n, timeoutMs: 4_000 }));
      return reply;
    };
    let requeued = 0;
    engine.events.subscribe(({ type }) => (requeued += Number(type === 'requeued')));
    await acquireLock(engine, KEY);
    expect(requeued).toBe(16);
    const batches: string[][] = [];
    const send = session.batch.bind(session);
    session.batch = (requests) => {
      batches.push(requests.map(({ op }) => op));
      return send(requests);
    };
    await acquireLock(engine, '/locks/b');
    expect(batches).toEqual([['create', 'create', 'list']]);
  });

  it('is not told of when the node is found: it kept its place', async () => {
    const { session, engine } = given();
    const serveAlone = session.answer;
    session.certainUntilMs = Number.MAX_SAFE_INTEGER;
    let creates = 0;
    session.answer = (request) => {
      const reply = serveAlone(request);
      if (request.op === 'get') return { data: new Uint8Array(0), stat: stat({ czxid: 7n, ephemeralOwner: 1n }) };
      if (request.op !== 'create' || request.mode !== 'ephemeral-sequential') return reply;
      creates += 1;
      return 'CONNECTION_LOSS';
    };
    const events: string[] = [];
    engine.events.subscribe(({ type }) => events.push(type));
    const { hold } = await acquireLock(engine, KEY);
    expect([hold.isHeld(), creates, events]).toEqual([true, 1, ['acquired']]);
  });
});

describe('a chroot that was removed', () => {
  it('ends an acquire that finds no place for even the topmost parent, and the error says so', async () => {
    const { session, engine } = given();
    session.answer = () => 'NO_NODE';
    const error = await rejection(acquireLock(engine, KEY));
    expect(error).toBeInstanceOf(LockConfigurationError);
    expect(error.details).toContain('chroot');
    expect(session.sent.map(({ op }) => op)).toEqual(['create', 'create', 'create', 'list']);
  });

  it('is not blamed for parents that were reaped: they are made again', async () => {
    const { session, engine } = given();
    session.certainUntilMs = Number.MAX_SAFE_INTEGER;
    // The parent of both keys is known from then on.
    await (await acquireLock(engine, '/locks/b')).handle.release();
    const serveAlone = session.answer;
    session.sent.length = 0;
    session.answer = (request) => (session.sent.length <= 3 ? 'NO_NODE' : serveAlone(request));
    expect((await acquireLock(engine, KEY)).hold.isHeld()).toBe(true);
  });
});

describe('certainty that a server with narrower bounds has cut short', () => {
  it('is told to a holder in time', async () => {
    const { session, engine } = given();
    session.certainUntilMs = session.clock.now() + 10_000;
    const { hold } = await acquireLock(engine, KEY);
    let lostAt = Infinity;
    hold.onLost(() => (lostAt = session.clock.now()));
    session.state$.next('suspended');
    session.certainUntilMs = session.clock.now() + 2_000;
    session.certaintyLowered$.next();
    await session.clock.advance(2_000);
    expect(lostAt).toBeLessThan(session.certainUntilMs);
  });
});

describe('whenSure()', () => {
  it('ends where the lock was released meanwhile, whatever the session does', async () => {
    const { session, engine } = given();
    session.certainUntilMs = Number.MAX_SAFE_INTEGER;
    const { handle: lock } = await acquireLock(engine, KEY);
    session.state$.next('suspended');
    const sure = rejection(lock.whenSure());
    await lock.release();
    let asked = 0;
    // A session that is closing says so at once, and still looks connected.
    session.proveLife = async () => {
      asked += 1;
      if (asked > 5) return;
      await session.request('CLOSED');
    };
    session.state$.next('reconnected');
    await promisesSettled();
    expect(await sure).toBeInstanceOf(LockLostError);
    expect(asked).toBeLessThanOrEqual(1);
  });

  it('ends with the handle that it was asked of, while the link stays down and another handle holds on', async () => {
    const { session, engine } = given();
    session.certainUntilMs = Number.MAX_SAFE_INTEGER;
    const { hold, handle } = await acquireLock(engine, KEY);
    const [lock, other] = [handle, hold.newHandle()];
    session.state$.next('suspended');
    const [sure, others] = [rejection(lock.whenSure()), rejection(other.whenSure())];
    let othersEnded = false;
    void others.then(() => (othersEnded = true));
    await lock.release();
    expect(await sure).toBeInstanceOf(LockLostError);
    expect(othersEnded).toBe(false);
    void other.release();
    expect(await others).toBeInstanceOf(LockLostError);
  });
});

describe("the watch on a holder's own node", () => {
  const { engine, one, operator } = useEngine('one', 'operator');

  it('is set again when somebody has written to the node, so that its removal is noticed all the same', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY, { mode: 'upgradeable' }));
    await engine.settle(lock.upgrade());
    await engine.runFor(1_000);
    const [, intent] = engine.queue(KEY).sort((a, b) => Number(a.slice(-10)) - Number(b.slice(-10)));
    for (const path of [lock.nodePath, `${KEY}/${intent}`]) {
      await engine.settle(operator.session.batch([set(path, Buffer.from('a note'))]));
      await engine.runFor(100);
    }
    expect(lock.isHeld()).toBe(true);
    await engine.settle(operator.session.batch([remove(`${KEY}/${intent}`)]));
    await engine.runFor(100);
    expect(lock.isHeld()).toBe(false);
    expect(one.events.at(-1)).toMatchObject({ type: 'lost', reason: 'removed' });
  });
});

describe('a try whose session ends in the middle of it', () => {
  const { engine, one } = useEngine('one');

  it.each([0, 1, 2, 3, 4, 5, 6])('%d ms after it began does not call a free lock busy', async (afterMs) => {
    const tried = one.locks.tryAcquire(KEY).then(
      (lock) => (lock === undefined ? 'busy' : 'held'),
      (error: Error) => error.name,
    );
    await engine.runFor(afterMs);
    engine.faults.expire(one.session.identity!.id);
    expect(['held', 'LockUnavailableError']).toContain(await engine.settle(tried));
    await engine.runFor(5_000);
  });
});

describe('a time-out', () => {
  const { engine, one } = useEngine('one');

  it('is not blamed on others when not one answer came: the link is silent', async () => {
    engine.faults.blackHole(one.process);
    const [acquired, tried, inspected] = [
      rejection(one.locks.acquire(KEY, { waitMs: 300 })),
      rejection(one.locks.tryAcquire(KEY, { waitMs: 300 })),
      rejection(one.locks.acquire(KEY, { waitMs: 300, mode: 'read' })),
    ];
    await engine.runFor(400);
    expect(one.session.state).toBe('connected');
    for (const error of await Promise.all([acquired, tried, inspected]))
      expect(error).toBeInstanceOf(LockUnavailableError);
  });
});
