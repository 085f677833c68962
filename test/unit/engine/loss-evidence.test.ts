import { beforeEach, describe, expect, it } from '@jest/globals';
import { LockLostError } from '../../../lib/lock/errors.js';
import type { LockEvent } from '../../../lib/lock/events.js';
import type { LockHandle } from '../../../lib/lock/handle.js';
import { remove } from '../../../lib/session/requests.js';
import { SESSION_TIMEOUT_MS, TICK_MS } from './support/engine-world.js';
import { replyTo } from '../../support/sessions/reply-to.js';
import { useEngine } from './support/use-engine.js';

const KEY = '/locks/report';

describe('the evidence of a loss', () => {
  const { engine, one } = useEngine('one');
  let lock: LockHandle;
  beforeEach(async () => {
    lock = await engine.settle(one.locks.acquire(KEY));
    await engine.runFor(3_000);
  });

  const told = (): Extract<LockEvent, { type: 'lost' }> => {
    const lost = one.events.filter((event) => event.type === 'lost');
    expect(lost).toHaveLength(1);
    const [event] = lost;
    if (event === undefined) throw new Error('It was not lost.');
    // The holder, the event and the text tell the same.
    expect(lock.signal.reason).toBe(event.error);
    expect(event.error.evidence).toBe(event.evidence);
    expect(event.evidence.sessionTimeoutMs).toBe(SESSION_TIMEOUT_MS);
    expect(JSON.parse(JSON.stringify(event.evidence))).toEqual(event.evidence);
    return event;
  };

  it('says for how long silent servers confirmed nothing, and blames no stall of the event loop', async () => {
    engine.faults.blackHole(one.process);
    const silentAt = engine.world.now();
    await engine.runUntil(() => !lock.isHeld());
    const { error, evidence, reason } = told();
    const silentMs = engine.world.now() - silentAt;
    expect(evidence.lastProofAgeMs).toBeGreaterThanOrEqual(silentMs);
    expect(evidence.lastProofAgeMs).toBeLessThanOrEqual(silentMs + SESSION_TIMEOUT_MS / 4 + 100);
    expect([reason, evidence.loopStalledMs]).toEqual(['uncertain', 0]);
    const seconds = (evidence.lastProofAgeMs! / 1_000).toFixed(1);
    expect(error.details).toContain(`the servers last confirmed a write ${seconds} s before`);
  });

  it('says for how long a link has been down, too', async () => {
    engine.faults.refuse(one.process);
    const downAt = engine.world.now();
    await engine.runUntil(() => !lock.isHeld());
    const { error, evidence } = told();
    expect(evidence.linkDownMs).toBeCloseTo(engine.world.now() - downAt, -2);
    expect(error.details).toMatch(/last confirmed a write \d\.\d s before, and the link has been down for \d\.\d s$/);
  });

  it('says for how long, at least, the event loop stood still, when a timer tells of the loss', async () => {
    one.process.pause();
    await engine.runFor(6_000);
    one.process.resume();
    await engine.runFor(10);
    const { error, evidence } = told();
    expect(evidence.loopStalledMs).toBeGreaterThanOrEqual(6_000 - TICK_MS);
    expect(evidence.loopStalledMs).toBeLessThanOrEqual(6_010);
    expect(error.details).toContain(
      `the event loop was blocked for ${(evidence.loopStalledMs / 1_000).toFixed(1)} s or more`,
    );
  });

  it('says for how long the event loop stood still on the first line behind the block, before any timer', async () => {
    one.process.pause();
    await engine.runFor(6_000);
    expect(lock.isHeld()).toBe(false);
    const { error, evidence } = told();
    expect(evidence.loopStalledMs).toBeGreaterThanOrEqual(6_000 - TICK_MS);
    expect(evidence.loopStalledMs).toBeLessThanOrEqual(6_000);
    expect(error.details).toMatch(/the event loop was blocked for \d\.\d s or more$/);
    one.process.resume();
  });

  it('says nothing of a block long ago, which the session has survived', async () => {
    one.process.pause();
    await engine.runFor(1_500);
    one.process.resume();
    await engine.runFor(4_000);
    expect(lock.isHeld()).toBe(true);
    engine.faults.blackHole(one.process);
    await engine.runUntil(() => !lock.isHeld());
    expect(told().evidence.loopStalledMs).toBe(0);
  });

  it('says so when the servers have ended the session', async () => {
    await engine.settle(lock.release());
    // So young a hold has no watch on its node yet, whose removal would be noticed first.
    lock = await engine.settle(one.locks.acquire(KEY));
    engine.faults.expire(one.session.identity!.id);
    await engine.runUntil(() => !lock.isHeld());
    const { error, evidence, reason } = told();
    expect([reason, evidence.lastProofAgeMs! < SESSION_TIMEOUT_MS]).toEqual(['session-ended', true]);
    expect(error.details).toContain('the servers last confirmed a write');
  });

  it('is no part of the text where the reason of the loss says it all', async () => {
    const other = await engine.client('other');
    await engine.settle(replyTo(other.session, remove(lock.nodePath)));
    await engine.runUntil(() => !lock.isHeld());
    const { error, evidence } = told();
    expect([error.details.endsWith('(an operator, or a tool)'), evidence.linkDownMs]).toEqual([true, 0]);
  });

  it('is on the reason of several locks that are lost together, and on no error of a handle released', async () => {
    const all = await engine.settle(one.locks.acquireAll(['/l/a', '/l/b']));
    await engine.settle(lock.release());
    const released = ((): unknown => {
      try {
        return lock.assertHeld();
      } catch (error) {
        return error;
      }
    })();
    expect([released, (released as LockLostError).evidence]).toEqual([expect.any(LockLostError), undefined]);
    engine.faults.refuse(one.process);
    await engine.runUntil(() => !all.isHeld());
    expect(all.signal.reason).toMatchObject({ evidence: { sessionTimeoutMs: SESSION_TIMEOUT_MS } });
  });
});
