import { describe, expect, it } from '@jest/globals';
import { get, remove } from '../../../../lib/session/requests.js';
import type { LockHandle } from '../../../../lib/lock/handle.js';
import { useEngineWith } from '../support/use-engine.js';

const KEY = '/locks/ledger';

describe('A contender that gives up in the turn in which its turn comes', () => {
  const { engine, one, other } = useEngineWith({}, 'one', 'other');

  it('lets nobody of its process in whose node has been removed', async () => {
    const holder = await engine.settle(other.locks.acquire(KEY));
    const abort = new AbortController();
    const watcher = { onWatchEvent: () => abort.abort() };
    await engine.settle(one.session.batch([get(holder.nodePath, watcher)]));
    const givesUp = one.locks.acquire(KEY, { signal: abort.signal }).catch((error: unknown) => error);
    await engine.runFor(50);
    let entered: LockHandle | undefined;
    void one.locks.acquire(KEY).then(
      (lock) => (entered = lock),
      () => undefined,
    );
    await engine.runFor(300);
    const [, first, second] = engine
      .queue(KEY)
      .sort((left, right) => Number(left.slice(-10)) - Number(right.slice(-10)));
    engine.faults.setLatency(one.process, 30);

    await engine.settle(other.session.batch([remove(`${KEY}/${second!}`)]));
    await engine.settle(holder.release());
    await engine.settle(other.session.batch([remove(`${KEY}/${first!}`)]));
    const lock = await engine.settle(other.locks.acquire(KEY));
    for (let ms = 0; ms < 400; ms += 1) {
      await engine.runFor(1);
      expect([lock.isHeld(), entered?.isHeld() ?? false]).toEqual([true, false]);
    }

    expect(await engine.settle(givesUp)).toMatchObject({ code: 'LOCK_ABORTED' });
    await engine.settle(lock.release());
  });
});
