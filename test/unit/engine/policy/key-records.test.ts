import { describe, expect, it } from '@jest/globals';
import type { AcquireOptions } from '../../../../lib/lock/acquire-options.js';
import type { LockHandle } from '../../../../lib/lock/handle.js';
import { isUp } from '../../../../lib/session/connection-state.js';
import { SessionError } from '../../../../lib/session/errors.js';
import { get, type Request, set } from '../../../../lib/session/requests.js';
import { replyTo } from '../../../support/sessions/reply-to.js';
import { type Client, rejection } from '../support/engine-world.js';
import { intercept } from '../support/intercept.js';
import { useEngineWith } from '../support/use-engine.js';

const KEY = '/locks/ledger';
const CLEARED = new Uint8Array(0);

/** Whether a contender writes its name into the record with it. */
function isEntry([request]: readonly Request[]): boolean {
  return request?.op === 'multi' && request.parts.at(-1)?.op === 'set';
}

describe('Where the record of a key changes meanwhile,', () => {
  const { engine, one, other } = useEngineWith({}, 'one', 'other');

  async function recorded(): Promise<string> {
    const { data } = await engine.settle(replyTo(one.session, get(KEY)));
    return Buffer.from(data).toString();
  }

  const acquire = (client: Client, options: AcquireOptions = {}): Promise<LockHandle> =>
    engine.settle(client.locks.acquire(KEY, options));

  async function vanish(options: AcquireOptions): Promise<void> {
    await acquire(one, options);
    const { identity } = one.session;
    engine.faults.expire(identity!.id);
    await engine.runUntil(() => one.session.identity !== identity && isUp(one.session.state));
  }

  it('what an operator clears stays cleared, also where one that was to write its name gives up before it hears that it was refused', async () => {
    await vanish({ onAbandoned: 'enter' });
    const abort = new AbortController();
    const acquiring = rejection(other.locks.acquire(KEY, { onAbandoned: 'enter', signal: abort.signal }));
    intercept(other, isEntry, async (requests, send) => {
      await replyTo(one.session, set(KEY, CLEARED));
      abort.abort();
      return send(requests);
    });
    await engine.settle(acquiring);
    await engine.runFor(500);
    expect([await recorded(), engine.queue(KEY)]).toEqual(['', []]);
  });

  it('one that gives up before the answer to its entry has come puts back what it found', async () => {
    await vanish({ onAbandoned: 'enter' });
    const found = await recorded();
    const abort = new AbortController();
    const acquiring = rejection(other.locks.acquire(KEY, { onAbandoned: 'enter', signal: abort.signal }));
    intercept(other, isEntry, async (requests, send) => {
      const written = await send(requests);
      abort.abort();
      return written;
    });
    await engine.settle(acquiring);
    await engine.runFor(500);
    expect([await recorded(), engine.queue(KEY)]).toEqual([found, []]);
  });

  it('one whose session ends before the answer to its entry has come puts back what it found, with the next session, if nobody has entered', async () => {
    for (const enters of [false, true]) {
      await vanish({ onAbandoned: 'enter' });
      const found = await recorded();
      const { identity } = other.session;
      engine.faults.loseReplyOfNext(other.process, 'multi');
      const gaveUp = rejection(other.locks.acquire(KEY, { onAbandoned: 'enter', waitMs: 500 }));
      await engine.runUntil(() => other.session.state === 'suspended');
      engine.faults.refuse(other.process);
      await engine.settle(gaveUp);
      engine.faults.expire(identity!.id);
      await engine.runUntil(() => engine.queue(KEY).length === 0);
      expect(await recorded()).not.toBe(found);
      const lock = enters ? await acquire(one, { onAbandoned: 'enter' }) : undefined;
      const before = await recorded();
      engine.faults.accept(other.process);
      await engine.runUntil(() => other.session.identity !== identity && isUp(other.session.state));
      await engine.runFor(500);
      expect(await recorded()).toBe(enters ? before : found);
      await engine.settle((lock ?? (await acquire(one))).release());
    }
  });

  it('one whose entry is decided only after it has asked for it again takes that for its own, and its name out at the end', async () => {
    let first: readonly Request[] = [];
    intercept(other, isEntry, async (requests) => {
      first = requests;
      // The link is lost, and servers that cannot commit show nothing of it yet.
      intercept(other, isEntry, async (again, send) => {
        await send(first);
        return send(again);
      });
      return [new SessionError('CONNECTION_LOSS', 'scripted')];
    });
    const lock = await acquire(other, { onAbandoned: 'hold' });
    expect(await recorded()).toContain(lock.nodePath.slice(KEY.length + 1));
    await engine.settle(lock.release());
    expect(await recorded()).toBe('');
  });
});
