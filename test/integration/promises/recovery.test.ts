import { describe, expect, it } from '@jest/globals';
import type { AcquireOptions } from '../../../lib/lock/acquire-options.js';
import { LockAbandonedError } from '../../../lib/lock/errors.js';
import { exists, get, set } from '../../../lib/session/requests.js';
import { killHolder } from '../../support/locks/kill-holder.js';
import type { LockClient } from '../../support/locks/lock-client.js';
import { LockStage } from '../../support/locks/lock-stage.js';
import { SHORTEST_SESSION_MS } from '../../support/locks/times.js';
import { outcomeOf } from '../../support/locks/witness.js';
import { eventually, within } from '../../support/process/eventually.js';
import { replyTo } from '../../support/sessions/reply-to.js';

const ENTER: AcquireOptions = { onAbandoned: 'enter' };
const BRIEF = { sessionTimeoutMs: SHORTEST_SESSION_MS };
/** The transactions of a hold that makes a checkpoint, in their order. */
const MULTIS = ['entry', 'checkpoint', 'release'] as const;

describe('Of a holder that vanished inside the next one is told,', () => {
  const stage = new LockStage(1, { containerCheckIntervalMs: 100 });

  async function recorded(key: string): Promise<string> {
    const { data } = await replyTo(await stage.operator(), get(key));
    return Buffer.from(data).toString();
  }

  async function expectNobodyIsToldOf(key: string, next: LockClient): Promise<void> {
    const lock = await next.service.acquire(key, ENTER);
    expect(lock.abandoned).toBeUndefined();
    await lock.release();
    expect(await recorded(key)).toBe('');
  }

  it('the next one hears its token, where its process was killed', async () => {
    const next = await stage.open();
    const key = stage.freshKey();
    const token = await killHolder(stage.connect, key, { ...ENTER, label: 'the first' });
    const lock = await next.service.acquire(key, ENTER);
    expect(lock.abandoned).toMatchObject({ token, label: 'the first', recoverer: undefined });
    await lock.release();
    await expectNobodyIsToldOf(key, next);
  });

  it('the next one is told also where the answer to its entry was lost, so that it never knew of it', async () => {
    const [vanishing, next] = [await stage.open(BRIEF), await stage.open()];
    const key = stage.freshKey();
    const abort = new AbortController();
    const rule = vanishing.onRequest({ opcode: 'multi', path: key, action: 'loseReply' });
    const acquiring = outcomeOf(vanishing.service.acquire(key, { ...ENTER, signal: abort.signal }));
    await vanishing.proxy.refuse();
    await within(5_000, 'the entry', rule.seen);
    await stage.untilExpired(vanishing.sessionId());
    const lock = await next.service.acquire(key, ENTER);
    expect(lock.abandoned).toMatchObject({ pid: process.pid });
    await lock.release();
    abort.abort();
    await vanishing.pass();
    expect(await acquiring).toMatchObject({ code: 'LOCK_ABORTED' });
    await expectNobodyIsToldOf(key, next);
  });

  it.each(
    MULTIS.flatMap((multi) =>
      (['loseReply', 'tearReply', 'dropRequest'] as const).map((action) => [action, multi] as const),
    ),
  )('nobody is told after %s of the %s, in a session that goes on', async (action, multi) => {
    const [client, next] = [await stage.open(), await stage.open()];
    const key = stage.freshKey();
    const nth = MULTIS.indexOf(multi) + 1;
    const rule = client.onRequest({ opcode: 'multi', path: key, nth, action });
    const lock = await client.service.acquire(key, ENTER);
    await lock.checkpoint('on my way');
    expect(lock.abandoned).toBeUndefined();
    await lock.release();
    await within(5_000, `the ${multi} is hit`, rule.seen);
    await stage.untilQueueHas(key, 0);
    await expectNobodyIsToldOf(key, next);
  });

  it.each(['before its entry', 'after its entry'] as const)(
    'nobody is told where a call was aborted %s was answered',
    async (when) => {
      const [client, next] = [await stage.open(), await stage.open()];
      const key = stage.freshKey();
      const abort = new AbortController();
      const action = when === 'before its entry' ? 'holdRequest' : 'holdReply';
      const rule = client.onRequest({ opcode: 'multi', path: key, action });
      const acquiring = outcomeOf(client.service.acquire(key, { ...ENTER, signal: abort.signal }));
      await within(5_000, 'the entry', rule.seen);
      abort.abort();
      expect(await acquiring).toMatchObject({ code: 'LOCK_ABORTED' });
      rule.release();
      await stage.untilQueueHas(key, 0);
      await expectNobodyIsToldOf(key, next);
    },
  );

  it('nobody is told where the link was cut, or the server restarted, between an entry and its release', async () => {
    const [client, next] = [await stage.open(), await stage.open()];
    const key = stage.freshKey();
    const lock = await client.service.acquire(key, ENTER);
    client.cut();
    await client.untilState((state) => state === 'suspended');
    await client.untilUp();
    await stage.server.restart();
    await client.untilUp();
    await lock.release();
    await stage.untilQueueHas(key, 0);
    const granted = await next.service.acquire(key, ENTER);
    // Where the machine is so slow that the lock was lost before the server was back, it is told of that.
    expect(granted.abandoned?.token).toBe(client.eventsOf('lost')[0]?.token);
    await granted.release();
  });

  it('nobody is told where it released while the link was down, and its session ended meanwhile', async () => {
    const [client, next] = [await stage.open(BRIEF), await stage.open()];
    const key = stage.freshKey();
    const lock = await client.service.acquire(key, ENTER);
    await client.refuse();
    await client.untilState((state) => state === 'suspended');
    await lock.release();
    await stage.untilExpired(client.sessionId());
    expect(await recorded(key)).not.toBe('');
    await client.pass();
    await client.untilUp();
    await eventually('it has taken its name back', async () => (await recorded(key)) === '');
    await expectNobodyIsToldOf(key, next);
  });

  it('nobody is told where empty containers are reaped, as that of the key stays, and others go', async () => {
    const [client, next] = [await stage.open(), await stage.open()];
    const [key, beside] = [stage.freshKey(), stage.freshKey()];
    await (await client.service.acquire(key, ENTER)).release();
    await (await client.service.acquire(beside)).release();
    const operator = await stage.operator();
    await eventually('a key beside it is gone', async () => (await replyTo(operator, exists(beside))) === undefined);
    await expectNobodyIsToldOf(key, next);
    await expectNobodyIsToldOf(beside, next);
  });

  it("all are kept out of a key with 'hold', over a restart of the server, until somebody clears its record", async () => {
    const key = stage.freshKey();
    const token = await killHolder(stage.connect, key, { onAbandoned: 'hold', label: 'the first' });
    await stage.untilQueueHas(key, 0);
    const [one, other] = [await stage.open(), await stage.open()];
    const expectClosed = async (): Promise<void> => {
      for (const options of [{}, { mode: 'read' }, ENTER, { atLeastMs: 5 }, { waitMs: 0 }] as const)
        expect(await outcomeOf(one.service.acquire(key, options))).toMatchObject({
          code: 'LOCK_ABANDONED',
          abandoned: { token, label: 'the first' },
        });
      expect(await outcomeOf(other.service.tryAcquire(key))).toBeInstanceOf(LockAbandonedError);
      expect(await one.service.inspect(key)).toMatchObject({ state: 'EXPIRED', abandoned: { token } });
    };
    await expectClosed();
    await stage.server.restart();
    await Promise.all([one.untilUp(), other.untilUp()]);
    await expectClosed();
    await replyTo(await stage.operator(), set(key, new Uint8Array(0)));
    await expectNobodyIsToldOf(key, other);
  });
});
