import type { KeptOut } from '../../queue/key-record.js';
import { SessionError } from '../../session/errors.js';
import { get, set } from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { Contender } from '../contender.js';
import { describeKeptOut } from '../error-texts.js';
import type { Timers } from '../timers.js';

/** The waits of contenders that the record of their key keeps out for a time, though nobody is ahead of them. */
export class TimedWaits {
  constructor(
    private readonly session: Session,
    private readonly timers: Timers,
  ) {}

  /** Waits until the time is over, and where it is one of the servers' clock, looks at that. */
  async whenOver(keptOut: KeptOut, contender: Contender, scope: CallScope): Promise<void> {
    scope.standsBehind(() => describeKeptOut(keptOut));
    if (keptOut.kind === 'delayed') return this.#sleep(keptOut.forMs, scope);
    await this.#sleep(keptOut.forMs - contender.sinceServerMs(this.session.clock.now()), scope);
    await this.#readServerClock(contender, scope);
  }

  /** Finds out what time it is at the servers. */
  async #readServerClock(contender: Contender, scope: CallScope): Promise<void> {
    const { session } = this;
    const { path } = contender;
    const [own] = await scope.guard(session.batch([get(path)]));
    if (own instanceof SessionError) return;
    // Only the answer to a write shows the servers' time, so the contender's own data is written once more.
    const [written] = await scope.guard(session.batch([set(path, own.data, own.stat.version)]));
    if (!(written instanceof SessionError)) contender.sawServerClock(written, session.clock.now());
  }

  async #sleep(durationMs: number, scope: CallScope): Promise<void> {
    const passed = new Promise<void>((resolve) => {
      const timer = this.timers.set(this.session.clock.now() + durationMs, resolve);
      scope.onDispose(() => timer.cancel());
    });
    await scope.guard(passed);
  }
}
