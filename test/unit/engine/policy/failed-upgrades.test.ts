import { describe, expect, it } from '@jest/globals';
import type { AbandonedPolicy } from '../../../../lib/lock/abandoned.js';
import type { LockHandle } from '../../../../lib/lock/handle.js';
import { get, type Request } from '../../../../lib/session/requests.js';
import { replyTo } from '../../../support/sessions/reply-to.js';
import { intercept } from '../support/intercept.js';
import { useEngineWith } from '../support/use-engine.js';

const KEY = '/locks/ledger';

function isEntry([request]: readonly Request[]): boolean {
  return request?.op === 'multi' && request.parts.at(-1)?.op === 'set';
}

describe('An upgrade that failed while its entry in the record was under way', () => {
  const { engine, one, other } = useEngineWith({}, 'one', 'other');

  async function recorded(): Promise<string> {
    const { data } = await engine.settle(replyTo(one.session, get(KEY)));
    return Buffer.from(data).toString();
  }

  /** The next holder has found nobody, and stands in the record itself. */
  async function expectCleanHandOver(next: Promise<LockHandle>): Promise<void> {
    const lock = await engine.settle(next);
    await engine.runFor(1_000);
    expect([lock.isHeld(), lock.abandoned]).toEqual([true, undefined]);
    expect(await recorded()).toContain('"label":"next"');
    await engine.settle(lock.release());
    await engine.runFor(100);
    expect(await recorded()).not.toContain('"inside"');
  }

  const acquireUpgradeable = (onAbandoned: AbandonedPolicy, leaseMs = 60_000): Promise<LockHandle> =>
    engine.settle(other.locks.acquire(KEY, { mode: 'upgradeable', onAbandoned, label: 'upgrader', leaseMs }));
  const acquireNext = (onAbandoned: AbandonedPolicy): Promise<LockHandle> => {
    const next = one.locks.acquire(KEY, { onAbandoned, waitMs: 60_000, label: 'next' });
    // The test awaits it later.
    next.catch(() => undefined);
    return next;
  };

  it.each(['hold', 'enter'] as const)(
    'is forgotten when its lock is released at once, and nobody is told of it (%s)',
    async (onAbandoned) => {
      const held = await acquireUpgradeable(onAbandoned);
      const next = acquireNext(onAbandoned);
      await engine.runFor(200);
      engine.faults.setLatency(other.process, 4);
      const abort = new AbortController();
      intercept(other, isEntry, (requests, send) => {
        const sent = send(requests);
        abort.abort();
        return sent;
      });
      await engine.settle(held.upgrade({ signal: abort.signal }).catch(() => held.release()));
      await expectCleanHandOver(next);
    },
  );

  it.each(['hold', 'enter'] as const)(
    'is forgotten when its answer was lost, and its lock is released without a link (%s)',
    async (onAbandoned) => {
      const held = await acquireUpgradeable(onAbandoned);
      const next = acquireNext(onAbandoned);
      await engine.runFor(200);
      intercept(other, isEntry, (requests, send) => {
        engine.faults.loseReplyOfNext(other.process, 'multi');
        return send(requests);
      });
      const released = held.upgrade({ waitMs: 500 }).catch(() => held.release());
      await engine.runUntil(() => other.session.state === 'suspended');
      engine.faults.refuse(other.process);
      await engine.settle(released);
      engine.faults.accept(other.process);
      await expectCleanHandOver(next);
    },
  );

  it.each([250, 255, 260, 265, 270, 275, 280, 285, 290, 295])(
    'is forgotten when the lease of its lock ends meanwhile (begun after %i of 300 ms)',
    async (afterMs) => {
      const held = await acquireUpgradeable('hold', 300);
      const next = acquireNext('hold');
      engine.faults.setLatency(other.process, 5);
      await engine.runFor(afterMs);
      let isUpgraded = true;
      await engine.settle(held.upgrade().catch(() => (isUpgraded = false)));
      // A lock that is lost by a writer has a holder that vanished.
      if (isUpgraded) await expect(engine.settle(next)).rejects.toMatchObject({ code: 'LOCK_ABANDONED' });
      else await expectCleanHandOver(next);
    },
  );
});
