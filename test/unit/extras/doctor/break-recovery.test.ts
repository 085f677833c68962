import { describe, expect, it } from '@jest/globals';
import { LockDoctor } from '../../../../lib/extras/doctor/lock-doctor.js';
import { useEngine } from '../../engine/support/use-engine.js';

const KEY = '/locks/a';
const WHY = { by: 'ada', reason: 'stuck since noon' };
/** A hold that is this old has the servers watch its node. */
const WATCHED_AFTER_MS = 300;
const TOLD_MS = 500;

describe('break, of a lock whose call recovers what was left,', () => {
  const { engine, one, other, operator } = useEngine('one', 'other', 'operator');

  it('keeps others out until the recover function has ended, and the next one recovers', async () => {
    const doctor = new LockDoctor(operator.locks);
    const steps: string[] = [];
    const vanished = await engine.settle(other.locks.acquire(KEY, { onAbandoned: 'enter', leaseMs: 100 }));
    await engine.runUntil(() => !vanished.isHeld());

    let token = 0n;
    const recovering = one.locks.acquire(KEY, {
      onAbandoned: 'recover',
      recover: async (lock) => {
        token = lock.fencingToken;
        await new Promise((resolve) => lock.signal.addEventListener('abort', resolve));
        steps.push('told');
        await one.sleep(1_000);
        steps.push('put right');
      },
    });
    await engine.runUntil(() => token > 0n);
    await engine.runFor(WATCHED_AFTER_MS);
    const next = other.locks.acquire(KEY, {
      onAbandoned: 'recover',
      recover: ({ abandoned }) => steps.push(`the next one recovers what ${abandoned?.token} left`),
    });
    const broken = doctor.break(KEY, { token, ...WHY, graceMs: 3_000 });

    expect(await engine.failure(recovering, TOLD_MS)).toMatchObject({ code: 'LOCK_BROKEN' });
    expect(await engine.settle(broken)).toMatchObject({ ended: 'in order' });
    const lock = await engine.settle(next, TOLD_MS);
    expect(steps).toEqual(['told', 'put right', `the next one recovers what ${vanished.fencingToken} left`]);
    expect(lock.abandoned?.recoverer).toBeUndefined();
    await engine.settle(lock.release());
  });
});
