import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLockDoctor, type LockDoctor } from '../../../lib/extras/doctor/index.js';
import { get } from '../../../lib/session/requests.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { SESSION_MS, TICK_MS } from '../../support/locks/times.js';
import { outcomeOf, untilPassed } from '../../support/locks/witness.js';
import { eventually, within } from '../../support/process/eventually.js';
import { type NodeChild, ofType, startNodeChild } from '../../support/process/node-child.js';
import { replyTo } from '../../support/sessions/reply-to.js';
import { rawSession } from '../support/raw-client.js';

const WHY = { by: 'ada', reason: 'stuck since noon' };
/** Nothing here waits for its end. */
const LONG_GRACE_MS = 60_000;
const SHORT_GRACE_MS = 300;
const SCRIPT = new URL('../../support/locks/doctored-process.ts', import.meta.url);
const PAUSED = new URL('../../support/locks/paused-holder-process.ts', import.meta.url);

describe('A lock that is broken, on real servers,', () => {
  const stage = new LockStage();
  let doctor: LockDoctor;

  beforeEach(async () => {
    doctor = await createLockDoctor({ connect: stage.connect });
  });
  afterEach(() => doctor.close());

  const holder = (key: string, way: string): Promise<NodeChild> =>
    startNodeChild(SCRIPT, { args: [stage.connect, key, way] });

  async function tokenOf(child: NodeChild): Promise<bigint> {
    const { token } = await child.next('acquired', ofType('acquired'));
    return BigInt(String(token));
  }

  it.each([
    ['a function under withLock', 'compensates', 'caller'],
    ['a handle that is released later', 'holds by hand', 'released'],
  ])(
    'keeps others out while its holder, %s in another process, puts right what is half done',
    async (_what, way, last) => {
      const key = stage.freshKey();
      await using child = await holder(key, way);
      const token = await tokenOf(child);
      const other = await stage.open();
      let hasEntered = false;
      const next = other.service.acquire(key).finally(() => (hasEntered = true));
      await stage.untilQueueHas(key, 2);

      const broken = doctor.break(key, { token, ...WHY, graceMs: LONG_GRACE_MS });
      expect(await child.next('told', ofType('told'))).toMatchObject({ isHeld: false, ...WHY });
      // The caller is told although its work goes on.
      if (last === 'caller')
        expect(await child.next('caller', ofType('caller'))).toMatchObject({ code: 'LOCK_BROKEN' });
      // A round trip of the one that waits: what would have let it in has been told by then.
      await other.service.inspect(key);
      expect(await stage.queue(key)).toHaveLength(2);
      expect(hasEntered).toBe(false);

      child.send({ type: 'go on' });
      await child.next('put right', ofType('put right'));
      expect(await within(10_000, 'the end of the break', broken)).toMatchObject({ ended: 'in order', token });
      const lock = await within(10_000, 'the hand-over', next);
      expect(lock.fencingToken).toBeGreaterThan(token);
      await lock.release();
      child.send({ type: 'end' });
      await child.ended;
    },
  );

  it('is removed by force from a process that stands still: the next enters, and its first line after S says not held', async () => {
    const key = stage.freshKey();
    await using child = await startNodeChild(PAUSED, { args: [stage.connect, key, `${SESSION_MS}`] });
    const { token } = await child.next('holds', ofType('holds'));
    const other = await stage.open();
    const next = other.service.acquire(key);
    await stage.untilQueueHas(key, 2);
    child.send({ type: 'spin' });
    await eventually('it spins', () => child.output().includes('spinning'), { everyMs: 1 });
    await child.pause();
    const pausedAt = performance.now();

    const broken = doctor.break(key, { token: token as bigint, ...WHY, graceMs: SHORT_GRACE_MS });
    expect(await within(10_000, 'the end of the break', broken)).toMatchObject({ ended: 'removed by force' });
    const lock = await within(10_000, 'the hand-over', next);
    await untilPassed(SESSION_MS + 10, pausedAt);
    await child.resume();
    expect(await child.next('first line', ofType('first line'))).toMatchObject({ isHeld: false, remainingMs: 0 });
    expect(lock.isHeld()).toBe(true);
    expect(lock.fencingToken).toBeGreaterThan(token as bigint);
    await lock.release();
  });

  it('is told soon after a pause that was shorter than S, too: by then the next one has the larger token', async () => {
    const key = stage.freshKey();
    await using child = await holder(key, 'holds');
    const token = await tokenOf(child);
    const other = await stage.open();
    const next = other.service.acquire(key);
    await stage.untilQueueHas(key, 2);
    await child.pause();
    await doctor.break(key, { token, ...WHY, graceMs: 0 });
    const lock = await within(10_000, 'the hand-over', next);
    expect(lock.fencingToken).toBeGreaterThan(token);
    await child.resume();
    expect(await child.next('lost', ofType('lost'))).toMatchObject({ isHeld: false });
    expect(lock.isHeld()).toBe(true);
    await lock.release();
    child.send({ type: 'end' });
    await child.ended;
  });

  it('stays as it is where the token is not the holder’s any more: nothing is written', async () => {
    const client = await stage.open();
    const key = stage.freshKey();
    const first = await client.service.acquire(key);
    await first.release();
    const lock = await client.service.acquire(key);
    const raw = await rawSession(stage.server.port);
    const before = await raw.getData(lock.nodePath);
    const refused = await outcomeOf(doctor.break(key, { token: first.fencingToken, ...WHY }));
    expect(refused).toMatchObject({ code: 'STALE_FENCING_TOKEN', key });
    expect((refused as { details?: string }).details).toContain(`token ${lock.fencingToken} (`);
    expect((await raw.getData(lock.nodePath)).body).toEqual(before.body);
    expect(lock.isHeld()).toBe(true);
    await lock.release();
    raw.destroy();
    await raw.closed;
  });

  it('is removed by force from a holder of another make, whose data stays its own', async () => {
    const client = await stage.open();
    const key = stage.freshKey();
    await (await client.service.acquire(key)).release();
    const raw = await rawSession(stage.server.port, 20 * TICK_MS);
    const path = `${key}/_c_11111111-1111-4111-a111-111111111111-lock-0000000001`;
    await raw.create(path, { ephemeral: true, data: '192.0.2.7' });
    const next = client.service.acquire(key);
    await stage.untilQueueHas(key, 2);
    const [holding] = (await client.service.inspect(key)).holders;
    const { fencingToken: token } = holding!;
    const broken = doctor.break(key, { token, ...WHY, graceMs: SHORT_GRACE_MS });
    expect(await within(10_000, 'the end of the break', broken)).toMatchObject({
      ended: 'removed by force',
      nodePath: path,
    });
    const lock = await within(10_000, 'the hand-over', next);
    await lock.release();
    raw.destroy();
    await raw.closed;
  });

  it('is told when the link of its holder is back', async () => {
    const client = await stage.open();
    const lock = await client.service.acquire(stage.freshKey());
    await eventually('it is watched', async () => (await stage.watchCount()) > 0);
    await client.refuse();
    const broken = doctor.break(lock.key, { token: lock.fencingToken, ...WHY, graceMs: LONG_GRACE_MS });
    const operator = await stage.operator();
    await eventually('it is written', async () => {
      const { data } = await replyTo(operator, get(lock.nodePath));
      return Buffer.from(data).includes('breaking');
    });
    expect(lock.isHeld()).toBe(true);
    await client.pass();
    await eventually('the loss is told', () => !lock.isHeld());
    expect(client.eventsOf('lost')).toMatchObject([{ reason: 'broken', error: WHY }]);
    await lock.release();
    expect(await within(10_000, 'the end of the break', broken)).toMatchObject({ ended: 'in order' });
  });

  it('goes with both of its nodes after an upgrade', async () => {
    const client = await stage.open();
    const lock = await client.service.acquire(stage.freshKey(), { mode: 'upgradeable' });
    await lock.upgrade();
    const broken = await doctor.break(lock.key, { token: lock.fencingToken, ...WHY, graceMs: SHORT_GRACE_MS });
    expect(broken).toMatchObject({ ended: 'removed by force' });
    expect(await stage.queue(lock.key)).toEqual([]);
    await eventually('the loss is told', () => !lock.isHeld());
    await lock.release();
  });

  it('keeps all closed that were acquired together with it, until they are released', async () => {
    const client = await stage.open();
    const [one, two] = [stage.freshKey(), stage.freshKey()];
    const multi = await client.service.acquireAll([one, two]);
    const broken = doctor.break(two, { token: multi.fencingToken(two), ...WHY, graceMs: LONG_GRACE_MS });
    await eventually('the loss is told', () => multi.signal.aborted);
    expect(multi.signal.reason).toMatchObject({ code: 'LOCK_BROKEN', ...WHY });
    expect([(await stage.queue(one)).length, (await stage.queue(two)).length]).toEqual([1, 1]);
    await multi.release();
    expect(await within(10_000, 'the end of the break', broken)).toMatchObject({ ended: 'in order' });
    expect([(await stage.queue(one)).length, (await stage.queue(two)).length]).toEqual([0, 0]);
  });
});
