import { describe, expect, it } from '@jest/globals';
import { PendingCalls } from '../../../../lib/session/core/pending-calls.js';
import { SingleCall } from './single-call.js';
import { SessionError } from '../../../../lib/session/errors.js';
import { exists, get, list, sync, type Request } from '../../../../lib/session/requests.js';

function call(request: Request, xid = 0): SingleCall {
  const made = new SingleCall(request);
  made.xid = xid;
  return made;
}

const watcher = { onWatchEvent: () => undefined };
const another = { onWatchEvent: () => undefined };

describe('Calls that wait for their answer', () => {
  it('come back in the order in which they were sent, with thousands under way', () => {
    const pending = new PendingCalls();
    const order: number[] = [];
    let sent = 0;
    for (let turn = 0; turn < 5_000; turn += 1) {
      for (let burst = 0; burst < 1 + (turn % 3); burst += 1) pending.push(call(sync('/'), ++sent));
      order.push(pending.shift()!.xid);
    }
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) order.push(next.xid);
    expect(order).toEqual(Array.from({ length: sent }, (_, index) => index + 1));
  });

  it('all settle when nothing more will be answered, and those that were answered do not settle twice', async () => {
    const pending = new PendingCalls();
    const calls = [1, 2, 3].map((xid) => call(sync('/'), xid));
    for (const one of calls) pending.push(one);
    pending.shift()!.settle(undefined);
    pending.settleAll(({ xid }) => new SessionError('CONNECTION_LOSS', `lost ${xid}`));
    const outcomes = await Promise.allSettled(calls.map(({ promise }) => promise));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(outcomes[2]).toMatchObject({ reason: { code: 'CONNECTION_LOSS', message: 'lost 3' } });
    expect(pending.shift()).toBeUndefined();
  });
});

describe('A wish to watch that is not answered yet', () => {
  it('is taken back for this watcher on this path alone', () => {
    const pending = new PendingCalls();
    const mine = call(get('/a', watcher));
    const others = [call(get('/a', another)), call(get('/b', watcher)), call(get('/a'))];
    for (const one of [mine, ...others]) pending.push(one);
    expect([...pending.unwatch('/a', watcher)]).toEqual(['data']);
    expect(mine.unwatched).toBe(true);
    expect(others.map(({ unwatched }) => unwatched)).toEqual([false, false, false]);
    expect([...pending.unwatch('/a', watcher)]).toEqual([]);
  });

  it('is known by the table in which the server will keep it', () => {
    const pending = new PendingCalls();
    pending.push(call(exists('/e', watcher)));
    pending.push(call(list('/l', watcher)));
    pending.push(call(get('/plain')));
    expect(pending.wantWatchOn('/e', 'data')).toBe(true);
    expect(pending.wantWatchOn('/e', 'children')).toBe(false);
    expect(pending.wantWatchOn('/l', 'children')).toBe(true);
    expect(pending.wantWatchOn('/plain', 'data')).toBe(false);
    pending.shift();
    expect(pending.wantWatchOn('/e', 'data')).toBe(false);
  });
});
