import { describe, expect, it } from '@jest/globals';
import type { LinkListener, ReplyBody } from '../../../lib/session/core/link.js';
import { remove, set } from '../../../lib/session/requests.js';
import { EngineWorld } from './support/engine-world.js';
import { THROTTLED } from './support/refusing-dialer.js';
import { replyTo } from '../../support/sessions/reply-to.js';

const KEY = '/locks/a';

describe('a contender that watches its own node as well as the one ahead', () => {
  it('does not enter without its node, where a change of it has used its watch up before the answer was told', async () => {
    const engine = new EngineWorld();
    const [operator, first, behind] = [
      await engine.client('operator'),
      await engine.client('first'),
      await engine.client('behind'),
    ];
    const process = engine.world.process('one');
    const dialer = process.dialer();
    let ahead: string | undefined;
    // A server that is too busy for the watch on who is ahead, once: the answers of both are told after a pause.
    process.dialer = () => ({
      dial: (server, listener) => {
        const throttled = new Set<number>();
        const told: LinkListener = {
          onOpen: () => listener.onOpen(),
          onHandshake: (reply) => listener.onHandshake(reply),
          onActivity: () => listener.onActivity(),
          onEvent: (event) => listener.onEvent(event),
          onClosed: (cause) => listener.onClosed(cause),
          onReply: (xid: number, errorNumber: number, body: ReplyBody) =>
            listener.onReply(xid, throttled.delete(xid) ? THROTTLED : errorNumber, body),
        };
        const link = dialer.dial(server, told);
        return {
          get lastZxid() {
            return link.lastZxid;
          },
          handshake: (handshake) => link.handshake(handshake),
          flush: () => link.flush(),
          destroy: () => link.destroy(),
          send: (xid, request, chroot) => {
            if (request.op !== 'get' || request.path !== ahead) return link.send(xid, request, chroot);
            ahead = undefined;
            throttled.add(xid);
            return link.send(xid, { op: 'exists', path: '/' }, chroot);
          },
        };
      },
    });
    const one = await engine.client('one');
    const held = await engine.settle(first.locks.acquire(KEY));
    ahead = held.nodePath;
    const entered = one.locks.acquire(KEY);
    await engine.runUntil(() => ahead === undefined);
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
    await engine.end();
  });
});
