import { describe, expect, it } from '@jest/globals';
import { LockStage } from '../../support/locks/lock-stage.js';
import { SHORTEST_SESSION_MS } from '../../support/locks/times.js';
import { noteAbort } from '../../support/locks/witness.js';
import { within } from '../../support/process/eventually.js';

describe('Loss is told first', () => {
  const stage = new LockStage();

  it('a holder hears of it when a server comes back with narrower bounds, shortens the session, and its answer is lost', async () => {
    const [holder, other] = [await stage.open(), await stage.open({ waitMs: 60_000 })];
    const { lock, waiting } = await stage.contend(holder, other);
    const abort = noteAbort(lock);
    await holder.untilHeartbeat();

    const offers = holder.onRequest({ opcode: 'connect', nth: 'every', action: 'loseReply' });
    await stage.server.restart({ maxSessionTimeoutMs: SHORTEST_SESSION_MS });
    await within(30_000, 'the session is offered', offers.seen);
    await holder.proxy.refuse();

    let isHeldBeside = true;
    let abortedAt: number | undefined;
    const next = await within(
      30_000,
      'the hand-over',
      waiting.then((granted) => {
        isHeldBeside = lock.isHeld();
        abortedAt = abort.at;
        return granted;
      }),
    );
    expect({ isHeldBeside, wasTold: abortedAt !== undefined }).toEqual({ isHeldBeside: false, wasTold: true });
    offers.release();
    await holder.pass();
    await lock.release();
    await next.release();
    await stage.server.restart();
  }, 90_000);
});
