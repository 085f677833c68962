import type { LockError } from '../../lock/errors.js';
import type { Alarm } from '../bounds/alarms.js';
import type { EngineContext } from '../context.js';
import type { Interrupt } from '../bounds/interrupt.js';

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
  { uplink, alarms, clock }: EngineContext,
  { afterMs, error }: Suspicion,
  interrupt: Interrupt,
): void {
  let alarm: Alarm | undefined;
  const watch = (): void => {
    alarm?.cancel();
    if (uplink.isUp) alarm = alarms.set(clock.now() + afterMs, suspect);
  };
  const suspect = (): void => {
    if (interrupt.isBehindOthers) interrupt.raise(error());
    else watch();
  };
  interrupt.onDispose(uplink.onChange(watch));
  interrupt.onDispose(() => alarm?.cancel());
  watch();
}
