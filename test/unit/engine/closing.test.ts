import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Engine } from '../../../lib/engine/build-engine.js';
import { inspectKey } from '../../../lib/engine/insight/inspect.js';
import { LockClosedError, LockConfigurationError } from '../../../lib/lock/errors.js';
import { rejection } from './support/engine-world.js';
import { useEngine } from './support/use-engine.js';
import { acquireLock, openScope, scriptedEngine } from './support/scripted-engine.js';
import { ScriptedSession } from './support/scripted-session.js';

const KEY = '/locks/a';
/** Whoever asks so often in one turn of the event loop would never let a timer run. */
const SPINS = 100;

describe('a session that takes no more requests, and is not closed yet', () => {
  let session: ScriptedSession;
  let engine: Engine;
  beforeEach(() => {
    session = new ScriptedSession();
    session.answer = () => {
      if (session.sent.length > SPINS) throw new Error('it is asked again and again');
      session.isClosing = true;
      return 'CLOSED';
    };
    engine = scriptedEngine(session);
  });

  it('ends an acquire with the reason for which it gave up, rather than being asked for ever', async () => {
    session.failure = new LockConfigurationError('auth: the servers refuse these credentials');
    expect(await rejection(acquireLock(engine, KEY))).toBe(session.failure);
  });

  it('ends a look at a queue', async () => {
    expect(
      await rejection(inspectKey(engine, { key: KEY, queuePath: KEY }, openScope(engine), 'behind a write')),
    ).toBeInstanceOf(LockClosedError);
  });

  it('is not up', () => {
    expect(engine.link.isUp).toBe(true);
    session.isClosing = true;
    expect(engine.link.isUp).toBe(false);
  });
});

describe('a service that closes while it holds many locks', () => {
  const HELD = 30;
  const { engine, one } = useEngine('one');

  /** Servers with much to do answer one removal after the other, `pauseMs` apart. Says what had gone when the session ended. */
  async function closeBehind(pauseMs: number): Promise<{ removedBefore: number; afterMs: number }> {
    const { session, locks } = one;
    await engine.settle(Promise.all(Array.from({ length: HELD }, (_, index) => locks.acquire(`/locks/${index}`))));
    const batch = session.batch.bind(session);
    let removed = 0;
    let turn = Promise.resolve();
    jest.spyOn(session, 'batch').mockImplementation(async (requests) => {
      if (requests.every(({ op }) => op !== 'delete')) return batch(requests);
      turn = turn.then(() => one.sleep(pauseMs));
      await turn;
      removed += requests.length;
      return batch(requests);
    });
    let removedBefore = -1;
    const close = session.close.bind(session);
    jest.spyOn(session, 'close').mockImplementation((withinMs) => {
      removedBefore = removed;
      return close(withinMs);
    });
    const startedAt = engine.world.now();
    await engine.settle(locks.close(0));
    return { removedBefore, afterMs: engine.world.now() - startedAt };
  }

  it('ends its session behind all removals, while servers go on confirming them', async () => {
    expect((await closeBehind(100)).removedBefore).toBe(HELD);
  });

  it('waits no longer where they confirm nothing', async () => {
    const { removedBefore, afterMs } = await closeBehind(60_000);
    expect({ removedBefore, isSoon: afterMs < 1_200 }).toEqual({ removedBefore: 0, isSoon: true });
  });

  it('waits ten seconds at most', async () => {
    const { removedBefore, afterMs } = await closeBehind(900);
    expect(removedBefore).toBeGreaterThan(0);
    expect(afterMs).toBeLessThan(12_000);
  });
});
