import type { Clock } from '../../lock/clock.js';
import { certaintyMarginMs } from '../../session/certainty.js';
import { type ConnectionState, isUp } from '../../session/connection-state.js';
import type { Session } from '../../session/session.js';
import { IndexedSet } from '../collections.js';
import type { PendingTimer, Timers } from '../timers.js';
import type { LinkState } from '../upkeep/link-state.js';
import type { Hold } from './hold.js';

/** Only a hold that lasts longer than this has its node watched, so that an operator's deletion of it is noticed. */
const WATCH_OWN_AFTER_MS = 250;

/**
 * All locks that this service holds. Keeps the session certain while there are any, and loses them all in time when the
 * session may have ended.
 */
export class Holders extends IndexedSet<Hold> {
  readonly #clock: Clock;
  #letGo: (() => void) | undefined;
  #certaintyTimer: PendingTimer | undefined;

  constructor(
    private readonly session: Session,
    private readonly timers: Timers,
    link: LinkState,
    private readonly onSuspended: 'continue' | 'stop',
  ) {
    super();
    this.#clock = session.clock;
    link.onChange('holders', (state) => this.#onState(state));
    session.certaintyLowered$.subscribe(() => this.#lookAgain());
  }

  override add(hold: Hold): void {
    super.add(hold);
    hold.watchTimer = this.timers.set(this.#clock.now() + WATCH_OWN_AFTER_MS, () => hold.watchOwn());
    // All holds share one session, and with it the heartbeat and the timer that the first of them starts.
    if (this.size > 1) return;
    this.#letGo = this.session.keepCertain();
    this.#setCertaintyTimer();
  }

  override delete(hold: Hold): boolean {
    if (!super.delete(hold)) return false;
    hold.watchTimer?.cancel();
    if (this.isEmpty) {
      this.#letGo?.();
      this.#certaintyTimer?.cancel();
    }
    return true;
  }

  #onState(state: ConnectionState): void {
    for (const hold of this.all()) {
      // The session may be a new one already, under which the old holds must not pass for held.
      if (hold.contender.session !== this.session.identity) hold.lose(state === 'closed' ? 'closed' : 'session-ended');
      else if (state === 'suspended' && this.onSuspended === 'stop') hold.lose('suspended');
      else if (isUp(state) && this.#clock.now() - hold.heldSince >= WATCH_OWN_AFTER_MS) hold.watchOwn();
    }
  }

  /** Sets the timer anew, as certainty may now end earlier. */
  #lookAgain(): void {
    if (this.isEmpty) return;
    this.#certaintyTimer?.cancel();
    this.#setCertaintyTimer();
    for (const hold of this.all()) hold.endsSooner();
  }

  /** Loses all holds one margin before certainty ends, so that their callers can stop in time. */
  #setCertaintyTimer(): void {
    const timeoutMs = this.session.identity?.timeoutMs ?? 0;
    const tellAt = this.session.certainUntil() - certaintyMarginMs(timeoutMs);
    // Every proof of life postpones that instant, so the timer only looks again when it fires.
    if (tellAt > this.#clock.now()) {
      this.#certaintyTimer = this.timers.set(tellAt, () => this.#setCertaintyTimer());
      return;
    }
    for (const hold of this.all()) hold.lose('uncertain');
  }
}
