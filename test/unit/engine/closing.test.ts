import { beforeEach, describe, expect, it } from '@jest/globals';
import { buildContext } from '../../../lib/engine/build-context.js';
import { inspectKey } from '../../../lib/engine/insight/inspect.js';
import { Interrupt } from '../../../lib/engine/bounds/interrupt.js';
import { obtain } from '../../../lib/engine/acquire/obtain.js';
import type { LockRequest } from '../../../lib/engine/acquire/place.js';
import { LockClosedError, LockConfigurationError } from '../../../lib/lock/errors.js';
import { EngineWorld, engineSettings, rejection } from './support/engine-world.js';
import { ScriptedSession } from './support/scripted-session.js';

const KEY = '/locks/a';
const REQUEST: LockRequest = { key: KEY, queuePath: KEY, mode: 'exclusive', owner: 'o', options: {}, askedAt: 0 };
/** Whoever asks so often in one turn of the event loop would never let a timer run. */
const SPINS = 100;

describe('a session that takes no more requests, and is not closed yet', () => {
  let session: ScriptedSession;
  let context: ReturnType<typeof buildContext>;
  beforeEach(() => {
    session = new ScriptedSession();
    session.answer = () => {
      if (session.sent.length > SPINS) throw new Error('it is asked again and again');
      session.isClosing = true;
      return 'CLOSED';
    };
    const { world } = new EngineWorld();
    context = buildContext(session.asSession, engineSettings(world.process('settings')));
  });

  it('ends an acquire with the reason for which it gave up, rather than being asked for ever', async () => {
    session.failure = new LockConfigurationError('auth: the servers refuse these credentials');
    expect(await rejection(obtain(context, REQUEST, new Interrupt()))).toBe(session.failure);
  });

  it('ends a look at a queue', async () => {
    expect(await rejection(inspectKey(context, KEY, KEY, new Interrupt(), 'behind a write'))).toBeInstanceOf(
      LockClosedError,
    );
  });

  it('is not up', () => {
    expect(context.uplink.isUp).toBe(true);
    session.isClosing = true;
    expect(context.uplink.isUp).toBe(false);
  });
});
