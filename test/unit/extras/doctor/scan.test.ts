import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ScanOptions, ScanProgress } from '../../../../lib/extras/doctor/index.js';
import { LockDoctor } from '../../../../lib/extras/doctor/lock-doctor.js';
import type { LockHandle } from '../../../../lib/lock/handle.js';
import { create, set } from '../../../../lib/session/requests.js';
import { replyTo } from '../../../support/sessions/reply-to.js';
import { rejection } from '../../engine/support/engine-world.js';
import { useEngine } from '../../engine/support/use-engine.js';

describe('scan', () => {
  const { engine, one, other, operator } = useEngine('one', 'other', 'operator');
  let doctor: LockDoctor;

  beforeEach(() => {
    doctor = new LockDoctor(operator.locks);
  });

  const scan = (options?: ScanOptions) => engine.settle(doctor.scan(options));
  const keysOf = async (options?: ScanOptions) => (await scan(options)).locks.map(({ key }) => key);
  const hold = (key: string, options = {}): Promise<LockHandle> => engine.settle(one.locks.acquire(key, options));
  const make = (path: string, data = ''): Promise<unknown> =>
    engine.settle(replyTo(operator.session, create(path, 'persistent', Buffer.from(data))));

  it('finds nothing in an empty tree, and creates nothing', async () => {
    expect(await scan()).toEqual({ at: expect.any(Date), locks: [], unreadable: 0 });
    expect(await keysOf({ prefix: '/locks' })).toEqual([]);
    expect(engine.world.stat('/locks')).toBeUndefined();
  });

  it('finds keys, keys below keys, and tells who holds, who waits, and for how long', async () => {
    const lock = await hold('/locks/a', { label: 'settle', template: '/locks/:id' });
    await hold('/locks/a/deep/er', { mode: 'read' });
    await engine.runFor(1_000);
    const waits = [1, 2].map(() => rejection(other.locks.acquire('/locks/a', { waitMs: 20_000 })));
    await engine.runFor(2_000);
    const { locks } = await scan();
    expect(locks.map(({ key }) => key)).toEqual(['/locks/a', '/locks/a/deep/er']);
    const [row, deeper] = locks;
    expect(row).toMatchObject({ template: '/locks/:id', state: 'HELD', waiting: 2, abandoned: undefined });
    expect(row!.holders).toMatchObject([
      { fencingToken: lock.fencingToken, client: { label: 'settle', template: '/locks/:id' } },
    ]);
    expect(deeper).toMatchObject({ template: undefined, waiting: 0, waitedMs: 0, longestWaitMs: undefined });
    expect(row!.holderAgeMs).toBeGreaterThanOrEqual(3_000);
    expect(row!.longestWaitMs).toBeGreaterThanOrEqual(1_990);
    expect(row!.waitedMs).toBeGreaterThanOrEqual(2 * 1_990);
    expect(row!.waitedMs).toBeLessThan(2 * 2_500);
    const json = JSON.parse(JSON.stringify(locks)) as { holders: { fencingToken: string }[] }[];
    expect(json[0]!.holders[0]!.fencingToken).toBe(String(lock.fencingToken));
    await engine.settle(Promise.all(waits));
  });

  it('keeps to its prefix, which may be a key itself', async () => {
    for (const key of ['/locks/a', '/locks/a/b', '/locks/ab', '/other']) await hold(key);
    expect(await keysOf({ prefix: '/locks/a' })).toEqual(['/locks/a', '/locks/a/b']);
    expect(await keysOf()).toEqual(['/locks/a', '/locks/a/b', '/locks/ab', '/other']);
  });

  it('sees the keys of the namespace of a doctor that has one, by their own names', async () => {
    const inside = await engine.client('inside', { namespace: '/app' }, { namespace: '/app' });
    await engine.settle(inside.locks.acquire('/locks/a'));
    await hold('/locks/b');
    const own = await engine.settle(new LockDoctor(inside.locks).scan());
    expect(own.locks.map(({ key }) => key)).toEqual(['/locks/a']);
    expect(await keysOf()).toEqual(['/app/locks/a', '/locks/b']);
  });

  it('takes neither its own nodes nor somebody else’s for locks', async () => {
    await hold('/locks/a', { onAbandoned: 'hold' });
    await make('/locks/config', '{"some":"data"}');
    await make('/locks/config/deeper');
    await engine.settle(doctor.drain('/locks/a', { by: 'ada', reason: 'tests', graceMs: 0 }));
    expect(await keysOf()).toEqual(['/locks/a']);
  });

  it('shows a key that its record closes though nobody is there', async () => {
    const lock = await hold('/locks/a', { onAbandoned: 'hold', label: 'pay' });
    await engine.settle(replyTo(operator.session, { op: 'delete', path: lock.nodePath, version: -1 }));
    await engine.runUntil(() => !lock.isHeld());
    const { locks } = await scan();
    expect(locks).toMatchObject([
      { key: '/locks/a', state: 'EXPIRED', holders: [], waiting: 0, holderAgeMs: undefined },
    ]);
    expect(locks[0]!.abandoned).toMatchObject({ label: 'pay', token: lock.fencingToken });
    await engine.settle(replyTo(operator.session, set('/locks/a', Buffer.alloc(0))));
    expect(await keysOf()).toEqual([]);
  });

  /** Scans, and does something between the list of the key and the reading of what it showed. */
  async function scanAround(act: () => Promise<void>) {
    let acting: Promise<void> | undefined;
    const result = await scan({
      prefix: '/locks/a',
      onProgress: () => {
        if (acting !== undefined) return;
        engine.faults.refuse(operator.process);
        acting = act().then(() => {
          engine.faults.pass(operator.process);
          engine.faults.accept(operator.process);
        });
      },
    });
    await engine.settle(acting!);
    return result;
  }

  it('looks again at a key whose holder has left since its list', async () => {
    const lock = await hold('/locks/a');
    let next: LockHandle | undefined;
    const { locks } = await scanAround(async () => {
      const waiting = other.locks.acquire('/locks/a');
      await other.sleep(100);
      await lock.release();
      next = await waiting;
    });
    expect(locks).toMatchObject([{ state: 'HELD', holders: [{ fencingToken: next!.fencingToken }] }]);
  });

  it('does not take a holder for vanished that came after the list', async () => {
    const first = await hold('/locks/a', { atLeastMs: 10 });
    await engine.settle(first.release());
    await engine.runFor(1_000);
    let next: LockHandle | undefined;
    const { locks } = await scanAround(async () => {
      next = await other.locks.acquire('/locks/a', { onAbandoned: 'enter' });
    });
    expect(locks).toMatchObject([
      { state: 'HELD', holders: [{ fencingToken: next!.fencingToken }], abandoned: undefined },
    ]);
  });

  it('tells how far it is, and reads on where the link was down in the middle', async () => {
    const keys = Array.from({ length: 1_200 }, (_, index) => `/locks/${String(index).padStart(4, '0')}`);
    await engine.settle(Promise.all(keys.map((key) => one.locks.acquire(key, { mode: 'read' }))));
    const seen: ScanProgress[] = [];
    const scanning = scan({
      onProgress: (progress) => {
        seen.push(progress);
        if (seen.length === 2) {
          engine.faults.refuse(operator.process);
          void one.sleep(3_000).then(() => {
            engine.faults.pass(operator.process);
            engine.faults.accept(operator.process);
          });
        }
      },
    });
    expect((await scanning).locks.map(({ key }) => key)).toEqual(keys);
    expect(seen.length).toBeGreaterThan(5);
    expect(seen.at(-1)).toEqual({ nodes: expect.any(Number), locks: 1_200 });
    expect(seen.at(-1)!.nodes).toBeGreaterThanOrEqual(2_402);
    const counts = seen.map(({ nodes }) => nodes);
    expect([...counts].sort((a, b) => a - b)).toEqual(counts);
  });

  it('ends when its signal aborts, also while the link is down', async () => {
    await hold('/locks/a');
    const why = new Error('seen enough');
    expect(await engine.failure(doctor.scan({ signal: AbortSignal.abort(why) }))).toMatchObject({
      code: 'LOCK_ABORTED',
      cause: why,
    });
    engine.faults.refuse(operator.process);
    await engine.runUntil(() => operator.session.state === 'suspended');
    const stop = new AbortController();
    const failure = rejection(doctor.scan({ signal: stop.signal }));
    await engine.runFor(100);
    stop.abort(why);
    expect(await engine.settle(failure)).toMatchObject({ code: 'LOCK_ABORTED', cause: why });
    engine.faults.pass(operator.process);
  });

  it('refuses options that make no sense before any I/O', async () => {
    for (const options of [
      { prefix: 'locks' },
      { prefix: 7 },
      { onProgress: 1 },
      { signal: {} },
      { prefixes: '/' },
      null,
    ])
      expect(await engine.failure(doctor.scan(options as ScanOptions))).toMatchObject({
        code: expect.stringMatching(/^(LOCK_CONFIGURATION|INVALID_LOCK_KEY)$/),
      });
  });
});
