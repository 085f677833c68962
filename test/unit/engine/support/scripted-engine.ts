import type { AcquiredLock } from '../../../../lib/engine/acquire/lock-calls.js';
import { CallScope } from '../../../../lib/engine/bounds/call-scope.js';
import { buildEngine, type Engine } from '../../../../lib/engine/build-engine.js';
import { Timers } from '../../../../lib/engine/timers.js';
import { Janitor } from '../../../../lib/engine/upkeep/janitor.js';
import { LinkState } from '../../../../lib/engine/upkeep/link-state.js';
import { ListsBehindWrites } from '../../../../lib/engine/upkeep/key-nodes.js';
import type { AcquireOptions } from '../../../../lib/lock/acquire-options.js';
import { Deadline } from '../../../../lib/lock/deadline.js';
import type { SessionError } from '../../../../lib/session/errors.js';
import type { Session } from '../../../../lib/session/session.js';
import { EngineWorld, engineSettings } from './engine-world.js';
import type { ScriptedSession } from './scripted-session.js';

/** The parts of a lock service over a session whose answers are the test's own. */
export function scriptedEngine(session: ScriptedSession): Engine {
  return buildEngine(session.asSession, engineSettings(new EngineWorld().world.process('settings')));
}

/** Acquires a lock as `acquire` does, and shows the hold behind the handle. */
export function acquireLock(engine: Engine, key: string, options: AcquireOptions = {}): Promise<AcquiredLock> {
  return engine.lockCalls.acquire(key, options, {
    service: engine,
    deadline: Deadline.after(engine.clock, engine.waitMs),
  });
}

/** The bounds of a call that nothing ends but the test. */
export function openScope({ clock, link }: Pick<Engine, 'clock' | 'link'>, key = '/locks/a'): CallScope {
  return new CallScope(key, Deadline.after(clock, Number.MAX_SAFE_INTEGER), link);
}

/** A janitor that nothing else of a lock service is around. */
export function janitorOf(session: Session, onRefused: (path: string, error: SessionError) => void): Janitor {
  const link = new LinkState(session);
  const timers = new Timers(session.clock);
  return new Janitor({ session, link, timers, lists: new ListsBehindWrites(session) }, onRefused);
}
