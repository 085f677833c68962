import { beforeEach, describe, expect, it } from '@jest/globals';
import { LockDoctor } from '../../../../lib/extras/doctor/lock-doctor.js';
import type { DoctorEvent } from '../../../../lib/extras/doctor/audit.js';
import type { AcquireOptions } from '../../../../lib/lock/acquire-options.js';
import { LockAbandonedError, LockConfigurationError, StaleFencingTokenError } from '../../../../lib/lock/errors.js';
import type { LockHandle } from '../../../../lib/lock/handle.js';
import { rejection } from '../../engine/support/engine-world.js';
import { useEngine } from '../../engine/support/use-engine.js';

const KEY = '/locks/a';
const WHY = { by: 'ada', reason: 'the books are balanced again' };

describe('clear', () => {
  const { engine, one, other, operator } = useEngine('one', 'other', 'operator');
  let doctor: LockDoctor;
  let events: DoctorEvent[];
  let lines: string[];

  beforeEach(() => {
    lines = [];
    const take = (line: string): void => void lines.push(line);
    doctor = new LockDoctor(operator.locks, { log: take, warn: take });
    events = [];
    doctor.events$.subscribe((event) => events.push(event));
  });

  async function vanish(options: AcquireOptions): Promise<LockHandle> {
    const lock = await engine.settle(one.locks.acquire(KEY, { label: 'the first', ...options }));
    engine.faults.expire(one.session.identity!.id);
    await engine.runUntil(() => engine.queue(KEY).length === 0);
    return lock;
  }

  const entering = (options: AcquireOptions = {}): Promise<LockHandle> => other.locks.acquire(KEY, options);

  it('opens a key that a holder left closed, and says what it left', async () => {
    const { fencingToken: token } = await vanish({ onAbandoned: 'hold' });
    expect(await engine.failure(entering())).toBeInstanceOf(LockAbandonedError);
    const result = await engine.settle(doctor.clear(KEY, { ...WHY, token }));
    expect(result).toMatchObject({ key: KEY, token, abandoned: { label: 'the first', token } });
    expect(JSON.parse(JSON.stringify(result))).toMatchObject({
      token: String(token),
      abandoned: { label: 'the first' },
    });
    expect((await engine.settle(entering({ onAbandoned: 'hold' }))).abandoned).toBeUndefined();
    expect(JSON.parse(JSON.stringify(events))).toMatchObject([
      { type: 'cleared', key: KEY, token: String(token), ...WHY },
    ]);
    expect(lines).toEqual([
      `Clear of ${KEY} (token ${token}): begun by ada (the books are balanced again)`,
      `Clear of ${KEY} (token ${token}): the holder that vanished is forgotten, and the key is open`,
    ]);
  });

  it('forgets both where the one that was to recover has vanished as well, by the token of either', async () => {
    const { fencingToken: token } = await vanish({ onAbandoned: 'enter' });
    const lost = rejection(one.locks.acquire(KEY, { onAbandoned: 'recover', recover: () => one.sleep(60_000) }));
    await engine.runFor(100);
    engine.faults.expire(one.session.identity!.id);
    await engine.settle(lost);
    await engine.runUntil(() => engine.queue(KEY).length === 0);
    await engine.settle(doctor.clear(KEY, { ...WHY, token }));
    expect((await engine.settle(entering())).abandoned).toBeUndefined();
  });

  it('keeps when the last run began', async () => {
    const { fencingToken: token } = await vanish({ onAbandoned: 'hold', atLeastMs: 60_000 });
    await engine.settle(doctor.clear(KEY, { ...WHY, token }));
    expect(await engine.settle(other.locks.tryAcquire(KEY, { atLeastMs: 60_000 }))).toBeUndefined();
  });

  it('writes nothing for another token, where nothing is to be cleared, and where somebody is inside', async () => {
    const refused = async (token: bigint): Promise<string> => {
      const version = engine.world.stat(KEY)?.version;
      const error = await engine.failure(doctor.clear(KEY, { ...WHY, token }));
      expect(error).toBeInstanceOf(StaleFencingTokenError);
      expect(engine.world.stat(KEY)?.version).toBe(version);
      return error.details!;
    };
    expect(await refused(7n)).toContain('nothing keeps it closed');
    const { fencingToken: token } = await vanish({ onAbandoned: 'enter' });
    expect(await refused(7n)).toContain(`has the token ${token}`);
    const lock = await engine.settle(entering());
    expect(await refused(token)).toContain('Somebody is inside');
    expect(await refused(lock.fencingToken)).toContain('Somebody is inside');
    expect(lines.at(-1)).toContain('not done');
  });

  it('is done once where its answer was lost', async () => {
    const { fencingToken: token } = await vanish({ onAbandoned: 'hold' });
    engine.faults.loseReplyOfNext(operator.process, 'set');
    await engine.settle(doctor.clear(KEY, { ...WHY, token }));
    expect((await engine.settle(entering())).abandoned).toBeUndefined();
  });

  it('needs a token, and who and why', async () => {
    const { token, by, reason } = { token: 7n, ...WHY };
    for (const options of [
      { by, reason },
      { token, by },
      { token, reason },
      { token: 7, by, reason },
    ])
      expect(await engine.failure(doctor.clear(KEY, options as never))).toBeInstanceOf(LockConfigurationError);
  });
});

describe('A lock with a record that is broken', () => {
  const { engine, one, other, operator } = useEngine('one', 'other', 'operator');

  it('is not abandoned where its work ended in the grace, and is where its node was removed by force', async () => {
    const doctor = new LockDoctor(operator.locks);
    for (const ends of [true, false]) {
      const lock = await engine.settle(one.locks.acquire(KEY, { onAbandoned: 'hold' }));
      await engine.runFor(300);
      const broken = doctor.break(KEY, { ...WHY, token: lock.fencingToken, graceMs: 1_000 });
      lock.signal.addEventListener('abort', () => void (ends && lock.release()));
      expect(await engine.settle(broken)).toMatchObject({ ended: ends ? 'in order' : 'removed by force' });
      const next = await engine.settle(other.locks.acquire(KEY).catch((error: unknown) => error as Error));
      if (ends) await engine.settle((next as LockHandle).release());
      else expect(next).toBeInstanceOf(LockAbandonedError);
    }
  });
});
