import { describe, expect, it } from '@jest/globals';
import { useEngine, useEngineWith } from '../support/use-engine.js';

const KEY = '/locks/report/7';
const TEMPLATE = '/locks/report/:id';

describe('query()', () => {
  const { engine, one, two } = useEngine('one', 'two');

  it('knows nothing where nothing is held or waited for', () => {
    expect(one.locks.query()).toEqual({ held: [], pending: [], removals: 0, certainMs: expect.any(Number) });
  });

  it('says what this process holds and waits for, and nothing of another one', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY, { label: 'Reports.write', template: TEMPLATE }));
    const other = await engine.settle(two.locks.acquire('/locks/other'));
    const waits = [one.locks.acquire('/locks/other', { mode: 'read' }), one.locks.acquire(KEY, { template: TEMPLATE })];
    await engine.runFor(2_000);

    const { held, pending } = one.locks.query();
    expect(held).toEqual([
      {
        key: KEY,
        template: TEMPLATE,
        mode: 'exclusive',
        label: 'Reports.write',
        owner: expect.any(String),
        scope: 'fleet',
        token: lock.fencingToken,
        nodePath: lock.nodePath,
        since: expect.any(Date),
        heldMs: expect.any(Number),
        remainingMs: expect.any(Number),
      },
    ]);
    expect(held[0]!.heldMs).toBeGreaterThanOrEqual(2_000);
    expect(one.locks.query().certainMs).toBe(held[0]!.remainingMs);
    expect(held[0]!.remainingMs).toBe(Math.round(lock.remainingMs()));
    expect(pending).toMatchObject([
      { key: '/locks/other', mode: 'read', ahead: 1, label: undefined },
      { key: KEY, template: TEMPLATE, ahead: 1 },
    ]);
    for (const { waitedMs } of pending) expect(waitedMs).toBeGreaterThanOrEqual(2_000);

    void lock.release();
    void other.release();
    for (const lock of waits) await engine.settle((await engine.settle(lock)).release());
    expect(one.locks.query()).toEqual({ held: [], pending: [], removals: 0, certainMs: expect.any(Number) });
  });

  it('can be sent as JSON', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY));
    void one.locks.acquire(KEY).catch(() => undefined);
    await engine.runFor(100);
    const { held, pending } = JSON.parse(JSON.stringify(one.locks.query())) as Record<string, object[]>;
    expect(held).toMatchObject([{ token: String(lock.fencingToken), since: expect.stringMatching(/^\d{4}-.*Z$/) }]);
    expect(pending).toMatchObject([{ key: KEY, ahead: 1, since: expect.stringMatching(/^\d{4}-.*Z$/) }]);
  });

  it('counts those of other processes that are ahead, and nobody for a reader among readers', async () => {
    await engine.settle(two.locks.acquire(KEY));
    const waits = [two, two, one, one].map(({ locks }) => locks.acquire(KEY).catch(() => undefined));
    await engine.runFor(200);
    expect(one.locks.query().pending.map(({ ahead }) => ahead)).toEqual([3, 4]);
    expect(waits).toHaveLength(4);
  });

  it('does not show a lock that is no longer certain, even before the loss is told', async () => {
    await engine.settle(one.locks.acquire(KEY));
    engine.faults.expire(one.session.identity!.id);
    await engine.runUntil(() => one.events.some(({ type }) => type === 'lost'));
    expect(one.locks.query().held).toEqual([]);
  });
});

describe('query() while ZooKeeper is away', () => {
  const { engine, one } = useEngineWith({ local: 'when unavailable' }, 'one');

  it('shows locks of this process alone as such', async () => {
    engine.faults.refuse(one.process);
    const lock = await engine.settle(one.locks.acquire(KEY, { waitMs: 20_000 }));
    expect(lock.scope).toBe('process');
    expect(one.locks.query().held).toMatchObject([{ key: KEY, scope: 'process', token: undefined }]);
  });
});
