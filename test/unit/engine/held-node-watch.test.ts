import { describe, expect, it } from '@jest/globals';
import type { LockHandle } from '../../../lib/lock/handle.js';
import { remove, set } from '../../../lib/session/requests.js';
import { replyTo } from '../../support/sessions/reply-to.js';
import { useEngine } from './support/use-engine.js';

/** A hold that is this old has the servers watch its node. */
const WATCHED_AFTER_MS = 300;
/** What the specification gives it. */
const NOTICED_MS = 1_000;
const KEY = '/locks/a';

describe('The watch on a held node', () => {
  const { engine, one, operator } = useEngine('one', 'operator');

  const hold = (mode: 'exclusive' | 'upgradeable' = 'exclusive'): Promise<LockHandle> =>
    engine.settle(one.locks.acquire(KEY, { mode }));

  /** The link goes, and comes back with the same session. */
  async function reconnect(meanwhile: () => Promise<unknown> = () => engine.runFor(500)): Promise<void> {
    engine.faults.refuse(one.process);
    await engine.runUntil(() => one.session.state === 'suspended');
    await meanwhile();
    engine.faults.accept(one.process);
    await engine.runUntil(() => one.session.state === 'reconnected');
    // Whatever it asks for on the new link is answered by then.
    await engine.runFor(100);
  }

  const removeNode = (path: string): Promise<unknown> => engine.settle(replyTo(operator.session, remove(path)));

  async function expectLossSoon(lock: LockHandle): Promise<void> {
    let isTold = false;
    lock.signal.addEventListener('abort', () => (isTold = true));
    await engine.runUntil(() => isTold || lock.signal.aborted, NOTICED_MS);
    expect(one.events.filter(({ type }) => type === 'lost')).toMatchObject([{ reason: 'removed' }]);
    await engine.runUntil(() => engine.queue(KEY).length === 0, NOTICED_MS);
  }

  it.each([
    ['answer', 'loseReplyOfNext'],
    ['request', 'loseNextRequest'],
  ] as const)('is set again with the next link where its %s was lost with the one before', async (_what, lose) => {
    const lock = await hold();
    const loss = engine.faults[lose](one.process, 'get');
    await engine.runFor(WATCHED_AFTER_MS);
    expect(loss.hasHappened).toBe(true);
    await engine.runUntil(() => one.session.state === 'reconnected');
    await engine.runFor(100);
    await removeNode(lock.nodePath);
    await expectLossSoon(lock);
  });

  it('is set with the next link where it was due while there was none', async () => {
    const lock = await hold();
    await reconnect(() => engine.runFor(WATCHED_AFTER_MS));
    await removeNode(lock.nodePath);
    await expectLossSoon(lock);
  });

  it('tells at once of a removal in between when it comes with the next link', async () => {
    const lock = await hold();
    engine.faults.loseReplyOfNext(one.process, 'get');
    engine.faults.refuse(one.process);
    await engine.runFor(WATCHED_AFTER_MS);
    await removeNode(lock.nodePath);
    expect(lock.isHeld()).toBe(true);
    engine.faults.accept(one.process);
    await engine.runUntil(() => one.session.state === 'reconnected');
    await expectLossSoon(lock);
  });

  it('stands after the link if it stood before it went, and tells of what happened in between', async () => {
    const lock = await hold();
    await engine.runFor(WATCHED_AFTER_MS);
    await reconnect();
    await removeNode(lock.nodePath);
    await expectLossSoon(lock);

    one.events.length = 0;
    const next = await hold();
    await engine.runFor(WATCHED_AFTER_MS);
    await reconnect(() => removeNode(next.nodePath));
    await expectLossSoon(next);
  });

  it.each([
    ['at once', (write: () => Promise<unknown>) => write()],
    ['while the link is away', (write: () => Promise<unknown>) => reconnect(write)],
  ])('is set again when somebody has written to the node, %s', async (_when, act) => {
    const lock = await hold();
    await engine.runFor(WATCHED_AFTER_MS);
    await act(() => engine.settle(replyTo(operator.session, set(lock.nodePath, new Uint8Array(1)))));
    await engine.runFor(100);
    expect(lock.isHeld()).toBe(true);
    await removeNode(lock.nodePath);
    await expectLossSoon(lock);
  });

  it('is one watch, however often the link has gone', async () => {
    const lock = await hold();
    await engine.runFor(WATCHED_AFTER_MS);
    const gets: string[] = [];
    const batch = one.session.batch.bind(one.session);
    one.session.batch = ((requests: Parameters<typeof batch>[0]) => {
      gets.push(...requests.filter(({ op }) => op === 'get').map(({ op }) => op));
      return batch(requests);
    }) as typeof one.session.batch;
    for (let count = 0; count < 3; count += 1) await reconnect();
    expect(gets).toEqual([]);
    await engine.settle(lock.release());
  });

  describe('that was upgraded', () => {
    /** Its intent, beside its contender. */
    async function upgraded(): Promise<{ lock: LockHandle; intent: string }> {
      const lock = await hold('upgradeable');
      await engine.runFor(WATCHED_AFTER_MS);
      await engine.settle(lock.upgrade());
      const intent = engine.queue(KEY).find((name) => !lock.nodePath.endsWith(name));
      return { lock, intent: `${KEY}/${intent}` };
    }

    it('is also on its intent, without which readers would come in', async () => {
      const { lock, intent } = await upgraded();
      await engine.runFor(100);
      await removeNode(intent);
      await expectLossSoon(lock);
    });

    it('is set again on both when the link has gone before the answer', async () => {
      const { lock, intent } = await upgraded();
      engine.faults.suspend(one.process);
      await engine.runUntil(() => one.session.state === 'reconnected');
      await engine.runFor(100);
      await removeNode(intent);
      await expectLossSoon(lock);
    });
  });
});
