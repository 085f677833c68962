import { describe, expect, it } from '@jest/globals';
import { create, get } from '../../../lib/session/requests.js';
import { type Client, rejection } from './support/engine-world.js';
import { replyTo } from '../../support/sessions/reply-to.js';
import { useEngineWith } from './support/use-engine.js';

const DELAY_MS = 2_000;
/** From the first request of a call to the answer to its last, and a little more. */
const MOMENTS = Array.from({ length: 40 }, (_, index) => index);

/** What a service may be in the middle of when it is closed. Only a holder that does not finish may leave its name. */
const UNDER_WAY: Record<string, (client: Client, key: string, busy: Client) => Promise<unknown>> = {
  'a call that has the lock for a moment': ({ locks }, key) => locks.withLock(key, () => undefined),
  'a call that only tries': async ({ locks }, key) => (await locks.tryAcquire(key))?.release(),
  'a call that waits behind another': async ({ locks }, key, busy) => {
    const lock = await busy.locks.acquire(key);
    const waiting = locks.withLock(key, () => undefined);
    await busy.sleep(5);
    void lock.release();
    await waiting;
  },
  'an upgrade': ({ locks }, key) => locks.withLock(key, (lock) => lock.upgrade(), { mode: 'upgradeable' }),
  'a transaction': ({ locks }, key) => locks.transaction(async (tx) => void (await tx.lock(key))),
};

describe('with lock-delay, a close at whatever moment', () => {
  const { engine, other } = useEngineWith({ lockDelayMs: DELAY_MS }, 'other');

  it.each(Object.keys(UNDER_WAY))('leaves no name of %s behind: the next one does not wait', async (what) => {
    const named: number[] = [];
    for (const afterMs of MOMENTS) {
      const key = `/locks/ledger/${afterMs}`;
      await engine.settle(replyTo(other.session, create('/locks', 'persistent')).catch(() => undefined));
      const one = await engine.client(`one ${afterMs}`, { lockDelayMs: DELAY_MS });
      const ended = UNDER_WAY[what]!(one, key, other).catch((error: unknown) => error);
      await engine.runFor(afterMs);
      if ((engine.world.stat(key)?.dataLength ?? 0) > 0) named.push(afterMs);
      await engine.settle(one.locks.close(1_000));
      await engine.settle(ended);
      const before = engine.world.now();
      const next = await engine.settle(other.locks.acquire(key));
      expect({ afterMs, waited: engine.world.now() - before >= DELAY_MS }).toEqual({ afterMs, waited: false });
      await engine.settle(next.release());
    }
    // Some of the moments were those in which the name stood there.
    expect(named).not.toEqual([]);
  });

  it('leaves the name of a holder that did not finish: the next one waits', async () => {
    const one = await engine.client('one', { lockDelayMs: DELAY_MS });
    const lost = rejection(one.locks.withLock('/locks/ledger', () => one.sleep(60_000)));
    await engine.runFor(100);
    await engine.settle(one.locks.close(50));
    await engine.settle(lost);
    const { data } = await engine.settle(replyTo(other.session, get('/locks/ledger')));
    expect(Buffer.from(data).toString()).toContain('lock-0000000001');
    const before = engine.world.now();
    await engine.settle(other.locks.acquire('/locks/ledger'));
    expect(engine.world.now() - before).toBeGreaterThanOrEqual(DELAY_MS);
  });
});
