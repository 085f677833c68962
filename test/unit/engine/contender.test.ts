import { describe, expect, it } from '@jest/globals';
import { remove, set } from '../../../lib/session/requests.js';
import { RefusingDialer, THROTTLED } from './support/refusing-dialer.js';
import { replyTo } from '../../support/sessions/reply-to.js';
import { useEngine } from './support/use-engine.js';

const KEY = '/locks/a';

describe('a contender that watches its own node as well as the one ahead', () => {
  const { engine, operator, first, behind } = useEngine('operator', 'first', 'behind');

  it('does not enter without its node, where a change of it has used its watch up before the answer was told', async () => {
    const process = engine.world.process('one');
    const dialer = new RefusingDialer(process.dialer(), THROTTLED);
    process.dialer = () => dialer;
    const one = await engine.client('one');
    const held = await engine.settle(first.locks.acquire(KEY));
    // A server that is too busy for the watch on who is ahead, once: the answers of both are told after a pause.
    dialer.refuses = (request) => request.op === 'get' && request.path === held.nodePath && dialer.count === 0;
    const entered = one.locks.acquire(KEY);
    await engine.runUntil(() => dialer.count === 1);
    const own = `${KEY}/${engine.queue(KEY).find((name) => !held.nodePath.endsWith(name))}`;
    await engine.settle(replyTo(operator.session, set(own, Buffer.from('{}'))));
    await engine.runFor(1_000);
    const next = behind.locks.acquire(KEY);
    await engine.runFor(100);
    await engine.settle(replyTo(operator.session, remove(own)));
    await engine.settle(held.release());
    const lock = await engine.settle(Promise.race([entered, next]));
    await engine.runFor(1_000);
    expect(engine.queue(KEY)).toContain(lock.nodePath.slice(KEY.length + 1));
    await engine.settle(lock.release());
    const locks = await engine.settle(Promise.all([entered, next]));
    expect(locks.filter((each) => each.isHeld())).toHaveLength(1);
  });
});
