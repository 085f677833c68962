import { beforeEach, describe, expect, it } from '@jest/globals';
import { Contender, type LockRequest } from '../../../../lib/engine/contender.js';
import { OwnNode } from '../../../../lib/engine/own-node.js';
import { KnownOrder, KnownQueue } from '../../../../lib/engine/acquire/known-queue.js';
import { encodeRecord } from '../../../../lib/queue/key-record.js';
import { SessionError } from '../../../../lib/session/errors.js';
import type { Created, NodeData } from '../../../../lib/session/requests.js';
import { ours } from '../../queue/names.js';
import { stat } from '../../support/session-world.js';
import { ScriptedSession } from '../support/scripted-session.js';

const KEY = '/locks/a';
const REQUEST: LockRequest = {
  key: KEY,
  queuePath: KEY,
  mode: 'exclusive',
  owner: 'the test',
  options: {},
  askedAt: 0,
  usesRecord: false,
};
const LOST = new SessionError('CONNECTION_LOSS', 'scripted');

const RECORD = encodeRecord({ lastRun: { at: 1, busyMs: 2 } });

/** A node of a key that was created by this transaction. */
function node(czxid: bigint, data: Uint8Array = new Uint8Array(0)): NodeData {
  return { data, stat: stat({ czxid, dataLength: data.length }) };
}

function created(czxid: bigint): Created {
  return { path: `${KEY}/${ours('exclusive', 0)}`, stat: stat({ czxid }) };
}

describe('The order of the contenders of one process', () => {
  let session: ScriptedSession;
  let order: KnownOrder;

  beforeEach(() => {
    session = new ScriptedSession();
    order = new KnownOrder(session.asSession, KEY, new KnownQueue());
  });

  /** Created by a later transaction the greater its number, below the node that came with the tenth. */
  function contender(sequence: number, czxid = BigInt(100 + sequence)): Contender {
    const own = new OwnNode(session.asSession, `${KEY}/${ours('exclusive', sequence)}`, session.identity);
    return new Contender(REQUEST, `${sequence}`, own, { czxid, ctime: 0 });
  }

  function watchAndSee(sequence: number): void {
    order.askToWatch().answered(node(10n), created(100n));
    order.sees(contender(sequence));
  }

  it('is known where the next number is exactly one above', () => {
    watchAndSee(4);
    expect([order.isFollowedBy(contender(5)), order.isWatched, order.isUsed]).toEqual([true, true, false]);
    order.sees(contender(5));
    expect([order.isFollowedBy(contender(6)), order.isUsed]).toEqual([true, true]);
  });

  it('is not known where somebody else has come in between, or a node that is no contender', () => {
    watchAndSee(4);
    order.sees(contender(5));
    expect(order.isFollowedBy(contender(7))).toBe(false);
    order.sees(contender(7));
    expect([order.isFollowedBy(contender(8)), order.isUsed]).toEqual([true, false]);
    order.sees(contender(7));
    order.sees(contender(8));
    expect(order.isUsed).toBe(true);
  });

  it('is not known while nobody of it was seen, nor by one that is found late, after a newer one', () => {
    order.askToWatch().answered(node(10n), created(100n));
    expect(order.isFollowedBy(contender(0))).toBe(false);
    order.sees(contender(4));
    order.sees(contender(2));
    expect([order.isFollowedBy(contender(3)), order.isFollowedBy(contender(5))]).toEqual([false, true]);
  });

  it.each([
    ['the watch was not set', LOST, created(100n)],
    ['the create failed', node(10n), LOST],
    ['the node is younger than the contender that was below it', node(101n), created(100n)],
  ] as const)('is not known where %s', (_why, outcome, create) => {
    order.askToWatch().answered(outcome, create);
    order.sees(contender(4));
    expect([order.isFollowedBy(contender(5)), order.isWatched, order.isAsked]).toEqual([false, false, false]);
  });

  it.each([
    ['the create failed', node(10n), LOST],
    ['the node is younger than the contender that was below it', node(101n), created(100n)],
    ['somebody writes into the record of the key', node(10n, RECORD), created(100n)],
  ])('takes its watch back where %s: the changes of that node concern nobody here', (_why, outcome, create) => {
    order.askToWatch().answered(outcome, create);
    expect([order.isWatched, session.unwatched]).toEqual([false, 1]);
  });

  it('is not known after an event: the same numbers may be given once more, below another node', () => {
    watchAndSee(4);
    order.onWatchEvent();
    expect([order.isFollowedBy(contender(5)), order.isWatched]).toEqual([false, false]);
    order.sees(contender(5));
    order.askToWatch().answered(node(200n), created(201n));
    expect(order.isFollowedBy(contender(5, 201n))).toBe(false);
  });

  it('is not known by an answer that is told after the event that has used its watch up', () => {
    const question = order.askToWatch();
    order.onWatchEvent();
    expect(order.isAsked).toBe(false);
    question.answered(node(10n), created(100n));
    expect(order.isWatched).toBe(false);
  });

  it('is known by the newest question, in whatever order the answers are told', () => {
    const first = order.askToWatch();
    // The key is removed and made again.
    order.onWatchEvent();
    const second = order.askToWatch();
    second.answered(node(200n), created(201n));
    first.answered(node(10n), created(107n));
    expect(order.isWatched).toBe(true);
    // Of the key that was there before: it is told late that it took its place.
    order.sees(contender(7, 107n));
    expect(order.isFollowedBy(contender(8, 208n))).toBe(false);
  });

  it('is not known by a contender that stood below the node of before', () => {
    order.askToWatch().answered(node(200n), created(201n));
    order.sees(contender(7, 107n));
    expect(order.isFollowedBy(contender(8, 208n))).toBe(false);
  });

  it('is forgotten with the watch, whatever is answered after that', () => {
    watchAndSee(4);
    order.onWatchEvent();
    const late = order.askToWatch();
    order.forget();
    late.answered(node(10n), created(100n));
    order.sees(contender(5));
    expect([order.isWatched, order.isFollowedBy(contender(6)), session.unwatched]).toEqual([false, false, 1]);
  });

  it('takes no watch back that was never asked for', () => {
    order.forget();
    expect(session.unwatched).toBe(0);
  });
});
