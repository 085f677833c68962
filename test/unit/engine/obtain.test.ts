import { describe, expect, it } from '@jest/globals';
import { buildContext } from '../../../lib/engine/build-context.js';
import { HeldLock } from '../../../lib/engine/held-lock.js';
import { Interrupt } from '../../../lib/engine/interrupt.js';
import { obtain } from '../../../lib/engine/obtain.js';
import type { LockRequest } from '../../../lib/engine/place.js';
import { LockLostError } from '../../../lib/lock/errors.js';
import type { LockEvent } from '../../../lib/lock/events.js';
import type { Children, Reply, Request, Watcher } from '../../../lib/session/requests.js';
import { ours } from '../queue/names.js';
import { promisesSettled } from '../support/manual-clock.js';
import { stat } from '../support/session-world.js';
import { EngineWorld, engineSettings, rejection } from './support/engine-world.js';
import { ScriptedSession } from './support/scripted-session.js';

const KEY = '/locks/a';
const REQUEST: LockRequest = { key: KEY, queuePath: KEY, mode: 'exclusive', owner: 'o', options: {}, askedAt: 0 };

/** A server with one queue, for one contender. */
function serve(session: ScriptedSession): void {
  let node = '';
  let sequence = 0;
  session.answer = (request: Request): Reply => {
    if (request.op === 'create' && request.mode === 'ephemeral-sequential')
      node = `${request.path}${String((sequence += 1)).padStart(10, '0')}`;
    if (request.op === 'create') return { path: node, stat: stat({ czxid: 7n, ephemeralOwner: 1n }) };
    if (request.op === 'list') return { children: [node.slice(KEY.length + 1)], stat: stat() };
    return undefined;
  };
}

function given(): { session: ScriptedSession; context: ReturnType<typeof buildContext> } {
  const session = new ScriptedSession();
  serve(session);
  const { process } = { process: new EngineWorld().world.process('settings') };
  return { session, context: buildContext(session.asSession, engineSettings(process)) };
}

describe('an acquire never resolves with a lock that is not held', () => {
  it('when the proof of life is as good as used up by the time it is looked at', async () => {
    const { session, context } = given();
    let proofs = 0;
    session.proveLife = async () => {
      proofs += 1;
      // The event loop was blocked for long after the first answer.
      session.certainUntilMs = session.clock.now() + (proofs === 1 ? 1 : 3_000);
    };
    const hold = await obtain(context, REQUEST, new Interrupt());
    expect([hold.isHeld(), proofs]).toEqual([true, 2]);
    expect(new HeldLock(context, hold).remainingMs()).toBeGreaterThan(2_000);
  });

  it('when its node is removed between its turn and the proof of life: it queues again', async () => {
    const { session, context } = given();
    const serveAlone = session.answer;
    const ahead = ours('exclusive', 0);
    const watchers: Watcher[] = [];
    let lists = 0;
    session.answer = (request) => {
      if (request.op === 'get') {
        if (request.watch !== undefined) watchers.push(request.watch);
        return { data: new Uint8Array(0), stat: stat() };
      }
      const reply = serveAlone(request);
      if (request.op !== 'list') return reply;
      lists += 1;
      const own = (reply as Children).children;
      // At first one is ahead; at the second look its own node is gone; then it has a new one.
      return { children: lists === 1 ? [...own, ahead] : lists === 2 ? [] : own, stat: stat() };
    };
    const waiting = obtain(context, REQUEST, new Interrupt());
    await promisesSettled();
    const [own, obstacle] = watchers;
    session.proveLife = async () => {
      session.certainUntilMs = session.clock.now() + 3_000;
      own!.onWatchEvent({ type: 'deleted', path: 'own' });
    };
    const events: string[] = [];
    context.events.subscribe(({ type }) => events.push(type));
    obstacle!.onWatchEvent({ type: 'deleted', path: 'ahead' });
    const hold = await waiting;
    expect([hold.isHeld(), events]).toEqual([true, ['requeued', 'acquired']]);
  });
});

describe('a session that ended with the answer to the create', () => {
  it('is told of, as others may have seen the contender in the queue: it queues again', async () => {
    const { session, context } = given();
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
    context.events.subscribe((event) => events.push(event));
    const hold = await obtain(context, REQUEST, new Interrupt());
    expect(hold.isHeld()).toBe(true);
    expect(events).toMatchObject([
      { type: 'requeued', key: KEY, mode: 'exclusive', reason: 'session-ended' },
      { type: 'acquired', key: KEY },
    ]);
  });

  it('is not told of when the node is found: it kept its place', async () => {
    const { session, context } = given();
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
    context.events.subscribe(({ type }) => events.push(type));
    const hold = await obtain(context, REQUEST, new Interrupt());
    expect([hold.isHeld(), creates, events]).toEqual([true, 1, ['acquired']]);
  });
});

describe('whenSure()', () => {
  it('of a lock that was given back meanwhile ends, whatever the session does', async () => {
    const { session, context } = given();
    session.certainUntilMs = Number.MAX_SAFE_INTEGER;
    const hold = await obtain(context, REQUEST, new Interrupt());
    const lock = new HeldLock(context, hold);
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
});
