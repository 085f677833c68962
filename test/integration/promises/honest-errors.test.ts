import { describe, expect, it } from '@jest/globals';
import * as errors from '../../../lib/lock/errors.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { TICK_MS } from '../../support/locks/times.js';
import { outcomeOf } from '../../support/locks/witness.js';
import { within } from '../../support/process/eventually.js';
import { replyTo } from '../../support/sessions/reply-to.js';

const ALL = 31;

describe('Honest errors:', () => {
  const stage = new LockStage();

  it('busy, aborted, closed and wrong differ', async () => {
    const [holder, client] = [await stage.open(), await stage.open()];
    const key = stage.freshKey();
    const lock = await holder.service.acquire(key);

    const busy = await outcomeOf(client.service.acquire(key, { waitMs: 100 }));
    expect(busy).toBeInstanceOf(errors.LockTimeoutError);
    expect(busy).toMatchObject({ code: 'LOCK_TIMEOUT', key });
    expect(await client.service.tryAcquire(key)).toBeUndefined();

    const reason = new Error('the request was cancelled');
    const aborted = await outcomeOf(client.service.acquire(key, { signal: AbortSignal.abort(reason) }));
    expect(aborted).toBeInstanceOf(errors.LockAbortedError);
    expect((aborted as Error).cause).toBe(reason);

    for (const wrong of ['locks', '/', '/a//b', '/a/../b', `${key}/lock-0000000001`, '/.sessions/x']) {
      expect(await outcomeOf(client.service.acquire(wrong))).toBeInstanceOf(errors.InvalidLockKeyError);
    }
    const waiting = outcomeOf(client.service.acquire(key));
    await stage.untilQueueHas(key, 2);
    await client.service.close();
    expect(await waiting).toBeInstanceOf(errors.LockClosedError);
    expect(await outcomeOf(client.service.acquire(key))).toBeInstanceOf(errors.LockClosedError);
    await lock.release();
  });

  it('unavailable is said when no server can be reached, and not when the lock is busy', async () => {
    const client = await stage.open();
    await client.refuse();
    const key = stage.freshKey();
    await client.untilState((state) => state === 'suspended');
    expect(await outcomeOf(client.service.tryAcquire(key))).toBeInstanceOf(errors.LockUnavailableError);
    const late = await outcomeOf(client.service.acquire(key, { waitMs: 200 }));
    expect(late).toBeInstanceOf(errors.LockUnavailableError);
  });

  it('lost is said by withLock at once, while the function still runs; its late result is an event', async () => {
    const client = await stage.open();
    const key = stage.freshKey();
    let finish: () => void = () => undefined;
    let operatorMayAct: () => void = () => undefined;
    const isInside = new Promise<void>((resolve) => (operatorMayAct = resolve));
    let path = '';
    const outcome = outcomeOf(
      client.service.withLock(key, async (lock) => {
        path = lock.nodePath;
        operatorMayAct();
        await new Promise<void>((resolve) => (finish = resolve));
        return 'too late';
      }),
    );
    await isInside;
    await stage.deleteNode(path);
    expect(await within(2_000, 'the loss is told', outcome)).toBeInstanceOf(errors.LockLostError);
    expect(client.eventsOf('late-result')).toEqual([]);
    finish();
    await new Promise((resolve) => setImmediate(resolve));
    expect(client.eventsOf('late-result')).toMatchObject([{ key, error: undefined }]);
  });

  it("the application's own error is never replaced, whatever happens to the release", async () => {
    const client = await stage.open();
    const own = new Error('the application failed');
    const outcome = await outcomeOf(
      client.service.withLock(stage.freshKey(), async () => {
        await client.refuse();
        throw own;
      }),
    );
    expect(outcome).toBe(own);
    await client.pass();
  });

  it('a time-out that is too short for the ticks, a denied queue, an ephemeral parent are configuration errors', async () => {
    const short = await stage.open({ sessionTimeoutMs: 2 * TICK_MS, serverTickMs: 2_000, untilUp: false });
    const refused = await outcomeOf(short.service.acquire(stage.freshKey()));
    expect(refused).toBeInstanceOf(errors.LockConfigurationError);
    expect((refused as Error).message).toMatch(/1000.*2000|2000.*1000/s);

    const client = await stage.open();
    const operator = await stage.operator();
    await (await client.service.acquire(stage.freshKey())).release();
    const denied = stage.freshKey();
    const readers = [{ permissions: 1, scheme: 'world', id: 'anyone' }];
    await replyTo(operator, { op: 'create', path: denied, mode: 'persistent', data: new Uint8Array(), acl: readers });
    const [barred, parent] = [await outcomeOf(client.service.acquire(denied)), stage.freshKey()];
    expect(barred).toBeInstanceOf(errors.LockConfigurationError);
    const anyone = [{ permissions: ALL, scheme: 'world', id: 'anyone' }];
    await replyTo(operator, { op: 'create', path: parent, mode: 'ephemeral', data: new Uint8Array(), acl: anyone });
    expect(await outcomeOf(client.service.acquire(`${parent}/key`))).toBeInstanceOf(errors.LockConfigurationError);
    expect(await outcomeOf(client.service.acquire(`${denied}/key`))).toBeInstanceOf(errors.LockConfigurationError);
    expect(await outcomeOf(client.service.acquire(`${denied}/deep/key`))).toBeInstanceOf(errors.LockConfigurationError);
    await stage.deleteNode(parent);
    await stage.deleteNode(denied);
  });
});
