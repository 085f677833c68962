import { describe, expect, it } from '@jest/globals';
import type { AcquireOptions } from '../../../../lib/lock/acquire-options.js';
import type { LockHandle } from '../../../../lib/lock/handle.js';
import type { Request } from '../../../../lib/session/requests.js';
import type { Client } from '../support/engine-world.js';
import { useEngineWith } from '../support/use-engine.js';

const KEY = '/locks/ledger';

type Batch = Client['session']['batch'];
type Send = (requests: readonly Request[]) => Promise<unknown[]>;

describe('Where the record of a key changes meanwhile,', () => {
  const { engine, one, other } = useEngineWith({}, 'one', 'other');

  const acquire = (client: Client, options: AcquireOptions = {}): Promise<LockHandle> =>
    engine.settle(client.locks.acquire(KEY, options));

  /** The next batch of this kind is sent by `handle`. */
  function intercept(
    { session }: Client,
    isMeant: (requests: readonly Request[]) => boolean,
    handle: (requests: readonly Request[], send: Send) => Promise<unknown[]>,
  ): void {
    const original = session.batch.bind(session);
    const send = original as unknown as Send;
    session.batch = ((requests: readonly Request[]) => {
      if (!isMeant(requests)) return send(requests);
      session.batch = original;
      return handle(requests, send);
    }) as unknown as Batch;
  }

  it('a try is not refused because of a holder that released its lock between the look at the record and that at the queue', async () => {
    const held = await acquire(one, { onAbandoned: 'hold' });
    const readsBoth = (requests: readonly Request[]): boolean =>
      requests.at(-1)?.op === 'list' && requests.length === 3;
    intercept(other, readsBoth, async (requests, send) => {
      const [synced, record] = await send(requests.slice(0, 2));
      await held.release();
      return [synced, record, ...(await send(requests.slice(2)))];
    });
    const lock = await engine.settle(other.locks.tryAcquire(KEY, { onAbandoned: 'hold' }));
    expect([lock?.isHeld(), lock?.abandoned]).toEqual([true, undefined]);
  });
});
