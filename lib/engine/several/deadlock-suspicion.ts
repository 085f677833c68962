import type { LockError } from '../../lock/errors.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { PendingTimer, Timers } from '../timers.js';
import type { LinkState } from '../upkeep/link-state.js';

/** For how long one may wait behind others before it is taken for a wait in a circle, and what it is told then. */
export interface Suspicion {
  readonly afterMs: number;
  readonly error: () => LockError;
}

/**
 * Ends a wait that may be one in a circle. Only the time behind others on a link that is up makes suspicious: while
 * ZooKeeper is away, or silent, nobody's turn comes, and the deadline of the call ends such a wait.
 */
export function suspectDeadlock(
  { link, timers }: { readonly link: LinkState; readonly timers: Timers },
  { afterMs, error }: Suspicion,
  scope: CallScope,
): void {
  const { clock } = scope.deadline;
  let timer: PendingTimer | undefined;
  const watch = (): void => {
    timer?.cancel();
    if (link.isUp) timer = timers.set(clock.now() + afterMs, suspect);
  };
  const suspect = (): void => {
    if (scope.isBehindOthers) scope.end(error());
    else watch();
  };
  scope.onDispose(link.onChange('calls', watch));
  scope.onDispose(() => timer?.cancel());
  watch();
}
