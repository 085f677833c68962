import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLockDoctor, type LockDoctor } from '../../../lib/extras/doctor/index.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { within } from '../../support/process/eventually.js';
import { type NodeChild, ofType, startNodeChild } from '../../support/process/node-child.js';

const WHY = { by: 'ada', reason: 'the reports were cancelled' };
const SCRIPT = new URL('../../support/locks/doctored-process.ts', import.meta.url);
/** As many wait in each process. */
const WAITERS = [20, 20, 10];

describe('A queue that is drained, on real servers,', () => {
  const stage = new LockStage();
  let doctor: LockDoctor;
  let children: NodeChild[] = [];

  beforeEach(async () => {
    doctor = await createLockDoctor({ connect: stage.connect });
  });
  afterEach(async () => {
    await doctor.close();
    for (const child of children.splice(0)) await child.kill();
  });

  it('ends all 50 waits of 3 processes, leaves the holder alone, and takes newcomers as ever', async () => {
    const key = stage.freshKey();
    const client = await stage.open();
    const lock = await client.service.acquire(key);
    children = await Promise.all(
      WAITERS.map((count) => startNodeChild(SCRIPT, { args: [stage.connect, key, 'waits', `${count}`] })),
    );
    await stage.untilQueueHas(key, 51, 45_000);

    const drained = doctor.drain(key, { ...WHY, graceMs: 4_000 });
    for (const [index, child] of children.entries()) {
      const { codes } = await child.next('outcomes', ofType('outcomes'));
      expect(codes).toEqual(Array(WAITERS[index]).fill('LOCK_DRAINED'));
    }
    const newcomer = client.service.acquire(key);
    expect(await within(10_000, 'the end of the drain', drained)).toMatchObject({ key, removed: 50 });
    for (const child of children)
      expect(child.messages).not.toContainEqual(expect.objectContaining({ type: 'requeued' }));

    expect(lock.isHeld()).toBe(true);
    // Neither the marker nor a waiter is left.
    expect((await stage.queue(key)).filter((name) => name !== lock.nodePath.slice(key.length + 1))).toHaveLength(1);
    const later = client.service.acquire(key);
    await stage.untilQueueHas(key, 3);
    await lock.release();
    for (const next of [newcomer, later]) await (await within(10_000, 'the hand-over', next)).release();
    for (const child of children) {
      child.send({ type: 'end' });
      expect(await child.ended).toMatchObject({ code: 0 });
    }
  });
});
