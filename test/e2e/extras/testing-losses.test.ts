import { describe, expect, it } from '@jest/globals';
import { LockLostError, LockUnavailableError } from '../../../lib/index.js';
import { bare, KEY, Orders } from './support/orders.js';

describe('locks in the tests of an application', () => {
  it('are told of the loss of the lock', async () => {
    await using app = await bare();
    const packed = app.orders.pack('42');
    await app.orders.gate.reached;

    await app.testing.lose(KEY);
    await expect(packed).rejects.toThrow(LockLostError);
    // Who has held for a while watches the node, whose deletion is told before the end of the session.
    expect(Orders.noted).toMatchObject([{ key: KEY, reason: expect.stringMatching(/^(session-ended|removed)$/) }]);
    app.orders.gate.open();

    await app.testing.untilState('reconnected');
    expect(await app.orders.ship('42')).toBeGreaterThan(0n);
  });

  it('lose only what they hold', async () => {
    await using app = await bare();
    await expect(app.testing.lose(KEY)).rejects.toThrow('nobody does');

    await app.testing.makeBusy(KEY);
    await expect(app.testing.lose(KEY)).rejects.toThrow('somebody else does');
  });

  it('keep their locks while the connection is suspended for a moment', async () => {
    await using app = await bare();
    const packed = app.orders.pack('42');
    await app.orders.gate.reached;

    await app.testing.suspend();
    expect(app.locks.connectionState).toBe('suspended');
    await expect(app.orders.ship('43')).rejects.toThrow(LockUnavailableError);

    await app.testing.resume();
    app.orders.gate.open();
    await packed;
    expect(Orders.noted).toEqual([]);
  });

  it('lose their locks when certainty ends before the connection is back', async () => {
    await using app = await bare({ sessionTimeoutMs: 600 });
    const packed = app.orders.pack('42');
    await app.orders.gate.reached;

    await app.testing.suspend();
    await expect(packed).rejects.toThrow(LockLostError);
    expect(Orders.noted).toMatchObject([{ key: KEY, reason: 'uncertain' }]);
    await app.testing.untilState('lost');
    app.orders.gate.open();
  });

  it('lose their locks at once with the option that says so', async () => {
    await using app = await bare({ onSuspended: 'stop' });
    const packed = app.orders.pack('42');
    await app.orders.gate.reached;

    await app.testing.suspend();
    await expect(packed).rejects.toThrow(LockLostError);
    expect(Orders.noted).toMatchObject([{ key: KEY, reason: 'suspended' }]);
    app.orders.gate.open();
  });

  it('hear after the connection is back that the session ended meanwhile', async () => {
    await using app = await bare();
    const packed = app.orders.pack('42');
    await app.orders.gate.reached;

    await app.testing.suspend();
    await app.testing.endSession();
    await app.testing.makeBusy(KEY);
    await app.testing.resume();
    await expect(packed).rejects.toThrow(LockLostError);
    app.orders.gate.open();
  });
});
