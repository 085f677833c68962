import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Engine } from '../../../lib/engine/build-engine.js';
import { inspectKey } from '../../../lib/engine/insight/inspect.js';
import { LockClosedError, LockConfigurationError } from '../../../lib/lock/errors.js';
import { rejection } from './support/engine-world.js';
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
    expect(await rejection(inspectKey(engine, KEY, KEY, openScope(engine), 'behind a write'))).toBeInstanceOf(
      LockClosedError,
    );
  });

  it('is not up', () => {
    expect(engine.link.isUp).toBe(true);
    session.isClosing = true;
    expect(engine.link.isUp).toBe(false);
  });
});
