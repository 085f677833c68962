import { beforeEach, describe, expect, it } from '@jest/globals';
import { LockConfigurationError, LockLostError } from '../../../lib/lock/errors.js';
import { create } from '../../../lib/session/requests.js';
import type { Client } from './support/engine-world.js';
import { replyTo } from '../../support/sessions/reply-to.js';
import { useEngine } from './support/use-engine.js';

const KEY = '/locks/report';
const READ = [{ permissions: 1, scheme: 'world', id: 'anyone' }];

/** As an application with `auth` and the same namespace leaves it to one without. */
describe('where the node of the heartbeats belongs to somebody with other credentials,', () => {
  const { engine, other } = useEngine('other');
  let one: Client;

  beforeEach(async () => {
    await engine.settle(replyTo(other.session, create('/.sessions', 'persistent', undefined, READ)));
    one = await engine.client('one');
  });

  it('a lock that is lost for that says so', async () => {
    const lock = await engine.settle(one.locks.acquire(KEY));
    await engine.runUntil(() => !lock.isHeld());
    const reason: unknown = lock.signal.reason;
    expect(reason).toBeInstanceOf(LockLostError);
    expect((reason as LockLostError).details).toMatch(
      /refuse the session's heartbeat \(ZooKeeper answered NO_AUTH.*\.sessions.*credentials/,
    );
    expect(one.events.at(-1)).toMatchObject({ type: 'lost', reason: 'uncertain', error: reason });
  });

  it('whoever cannot prove that the session lives is told at once, and not that others hold the lock', async () => {
    const two = await engine.client('two');
    await engine.settle(two.locks.acquire(KEY));
    // It is lost for the same reason; then the one who waited is alone in the queue.
    const error = await engine.failure(one.locks.acquire(KEY, { waitMs: 30_000 }));
    expect(error).toBeInstanceOf(LockConfigurationError);
    expect(error.details).toMatch(/cannot be held: the servers refuse the session's heartbeat/);
    await engine.runFor(1_000);
    expect(engine.queue(KEY)).toEqual([]);
  });
});
