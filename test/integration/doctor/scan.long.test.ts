import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLockDoctor, type LockDoctor, type ScanProgress } from '../../../lib/extras/doctor/index.js';
import { create, remove } from '../../../lib/session/requests.js';
import { LockStage } from '../../support/locks/lock-stage.js';

const AT_ONCE = 500;

describe('A scan of a large tree, on a real server,', () => {
  const stage = new LockStage(1, { tickTimeMs: 2_000 });
  let doctor: LockDoctor;

  beforeEach(async () => {
    doctor = await createLockDoctor({ connect: stage.connect });
  });
  afterEach(() => doctor.close());

  it('finds 10 000 locks under one parent', async () => {
    const client = await stage.open();
    const keys = Array.from({ length: 10_000 }, (_, index) => `/locks/orders/${index}`);
    for (let from = 0; from < keys.length; from += AT_ONCE)
      await Promise.all(keys.slice(from, from + AT_ONCE).map((key) => client.service.acquire(key, { waitMs: 60_000 })));
    const seen: ScanProgress[] = [];
    const startedAt = performance.now();
    const { locks } = await doctor.scan({ onProgress: (progress) => seen.push(progress) });
    const scannedAt = performance.now();
    const { findings } = await doctor.examine();
    process.stderr.write(
      `10 000 locks: scan ${Math.round(scannedAt - startedAt)} ms, examine ${Math.round(performance.now() - scannedAt)} ms\n`,
    );
    expect(locks).toHaveLength(10_000);
    expect(new Set(locks.map(({ key }) => key))).toEqual(new Set(keys));
    // One process holds them all.
    expect(findings.map(({ kind }) => kind)).toEqual(['session near its limit']);
    // Whatever is read comes in pieces, so that a page has something to show and locks are not held up.
    const steps = seen.map(({ nodes }, index) => nodes - (seen[index - 1]?.nodes ?? 0));
    expect(Math.max(...steps)).toBeLessThanOrEqual(AT_ONCE);
  }, 240_000);

  it('reads past 100 000 nodes of somebody else', async () => {
    const operator = await stage.operator();
    await operator.batch([create('/crowd', 'persistent')]);
    const paths = Array.from({ length: 100_000 }, (_, index) => `/crowd/${index}`);
    for (let from = 0; from < paths.length; from += 1_000)
      await operator.batch(
        paths.slice(from, from + 1_000).map((path) => create(path, 'persistent', Buffer.from('theirs'))),
      );
    const lock = await (await stage.open()).service.acquire('/crowd/7/lock');
    const startedAt = performance.now();
    const { locks } = await doctor.scan();
    const scannedAt = performance.now();
    const { findings } = await doctor.examine();
    process.stderr.write(
      `100 000 nodes: scan ${Math.round(scannedAt - startedAt)} ms, examine ${Math.round(performance.now() - scannedAt)} ms\n`,
    );
    expect(locks.map(({ key }) => key)).toContain('/crowd/7/lock');
    expect(findings.filter(({ kind }) => kind === 'foreign node')).toMatchObject([
      { text: expect.stringContaining('100000 nodes below /crowd are no locks') },
    ]);
    await lock.release();
    for (let from = 0; from < paths.length; from += 1_000)
      await operator.batch(paths.slice(from, from + 1_000).map((path) => remove(path)));
  }, 240_000);
});
