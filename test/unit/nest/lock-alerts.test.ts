import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type LockEvent, LockTimeoutError, LockUnavailableError } from '../../../lib/index.js';
import type { LockAlert } from '../../../lib/lock/alerts.js';
import { type PendingLockFacts, processLocks } from '../../../lib/lock/process-locks.js';
import { LockAlerts } from '../../../lib/nest/lock-alerts.js';
import { eventually } from '../../support/process/eventually.js';

const KEY = '/locks/report';

describe('The alerts of a process', () => {
  let watching: LockAlerts;
  let alerts: LockAlert[];
  let pending: PendingLockFacts[];
  let looks: number;

  beforeEach(() => {
    [alerts, pending, looks] = [[], [], 0];
    const query = () => {
      looks += 1;
      return processLocks({ held: [], pending, removals: 0, certainMs: 0 });
    };
    watching = new LockAlerts({ heldMs: 4, queueLength: 10, failures: 2 }, query, (alert) => alerts.push(alert));
  });
  afterEach(() => watching.stop());

  /** So many are ahead of the calls that wait for the key, while the process is looked at. */
  async function queueOf(...ahead: number[]): Promise<void> {
    const facts = { key: KEY, mode: 'exclusive', label: 'a', template: undefined, owner: 'b' } as const;
    pending = ahead.map((one) => ({ ...facts, since: new Date(), waitedMs: 1, ahead: one }));
    const before = looks;
    // The first look may have begun before.
    await eventually('two looks', () => looks >= before + 2);
  }

  it('tell a queue once, by the call that has most ahead of it', async () => {
    await queueOf(11, 13, 12);
    expect(alerts).toEqual([{ alert: 'queue', key: KEY, label: 'a', template: undefined, ahead: 13 }]);
  });

  it('tell a queue that swings around the threshold once, and anew when it was down to half of that', async () => {
    for (const ahead of [11, 9, 12, 6, 11]) await queueOf(ahead);
    expect(alerts).toHaveLength(1);
    await queueOf(5);
    await queueOf(10);
    expect(alerts).toHaveLength(1);
    await queueOf(11);
    expect(alerts).toHaveLength(2);
    await queueOf();
    await queueOf(11);
    expect(alerts).toHaveLength(3);
  });

  it('leave a ZooKeeper that is away to the line that tells of the connection, once for all keys', () => {
    const failed = (error: Error): void =>
      watching.onEvent({ type: 'failed', key: KEY, busy: false, error } as unknown as LockEvent);
    for (let call = 0; call < 5; call += 1) failed(new LockUnavailableError('away', KEY));
    expect(alerts).toEqual([]);
    failed(new LockTimeoutError('late', KEY));
    failed(new LockTimeoutError('late', KEY));
    expect(alerts).toMatchObject([{ alert: 'failures', key: KEY, failures: 2 }]);
  });
});
