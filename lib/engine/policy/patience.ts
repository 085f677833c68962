import type { Deadline } from '../../lock/deadline.js';
import type { Alarm } from '../bounds/alarms.js';
import type { EngineContext } from '../context.js';
import type { Interrupt } from '../bounds/interrupt.js';
import { timeoutError } from '../bounds/timeouts.js';

/**
 * Ends a wait for ZooKeeper early, so that there is time for the lock that stands in for it: while the link is down, half
 * of the time that is left is for ZooKeeper to come back. Of a session that is lost, or did not come up for as long as one
 * lasts, nothing is expected any more.
 */
export function limitPatience(context: EngineContext, key: string, deadline: Deadline, interrupt: Interrupt): void {
  const { uplink, alarms, session, clock } = context;
  let alarm: Alarm | undefined;
  const look = (): void => {
    alarm?.cancel();
    if (uplink.isUp) return;
    const patienceMs = session.state === 'lost' ? 0 : deadline.remainingMs() / 2;
    alarm = alarms.set(clock.now() + patienceMs, () =>
      interrupt.raise(timeoutError(context, key, deadline, interrupt)),
    );
  };
  interrupt.onDispose(uplink.onChange(look));
  interrupt.onDispose(() => alarm?.cancel());
  look();
}
