import { type Clock, wallNow } from '../../lock/clock.js';
import type { LockScope } from '../../lock/handle.js';
import type { HeldLockFacts, PendingLockFacts, ProcessLocksFacts } from '../../lock/process-locks.js';
import type { Session } from '../../session/session.js';
import type { CallScope, CallScopes } from '../bounds/call-scope.js';
import { factsOf } from '../contender.js';
import type { Hold } from '../hold/hold.js';
import type { Holders } from '../hold/holders.js';
import type { Janitor } from '../upkeep/janitor.js';

/** The parts of a lock service that know of its locks. */
interface Known {
  readonly clock: Clock;
  readonly holders: Holders;
  readonly scopes: CallScopes;
  readonly janitor: Janitor;
  readonly session: Session;
}

/** Says what this lock service holds and waits for now, without asking anybody. */
export function queryLocks({ clock, holders, scopes, janitor, session }: Known, scope: LockScope): ProcessLocksFacts {
  const held = holders.all().flatMap((hold) => (hold.isHeld() ? [heldFacts(hold, clock, scope)] : []));
  const pending = scopes.all().flatMap((call) => pendingFacts(call, clock));
  const certainMs = Math.max(0, Math.round(session.certainUntil() - clock.now()));
  return { held, pending, removals: janitor.size, certainMs };
}

function heldFacts(hold: Hold, clock: Clock, scope: LockScope): HeldLockFacts {
  const { ageMs } = hold;
  return {
    ...factsOf(hold.request),
    ...hold.facts(),
    scope,
    nodePath: hold.contender.path,
    since: new Date(wallNow(clock) - ageMs),
    heldMs: Math.round(ageMs),
    remainingMs: Math.round(hold.remainingMs()),
  };
}

function pendingFacts({ request, place, isOver }: CallScope, clock: Clock): PendingLockFacts[] {
  // The call has its lock, or its error, and a few turns of promises lie between that and its caller.
  if (request === undefined || isOver) return [];
  const waitedMs = clock.now() - request.askedAt;
  const since = new Date(wallNow(clock) - waitedMs);
  return [{ ...factsOf(request), since, waitedMs: Math.round(waitedMs), ahead: place?.ahead }];
}
