import { certaintyMarginMs } from '../../session/certainty.js';
import type { Clock } from '../../lock/clock.js';
import { type ConnectionState, isUp } from '../../session/connection-state.js';
import type { Session } from '../../session/session.js';
import type { Alarm, Alarms } from '../bounds/alarms.js';
import type { Hold } from '../hold/hold.js';
import { Roster } from './roster.js';
import type { Uplink } from './uplink.js';

/** A hold shorter than this costs no watch; an operator's deletion of a longer one is noticed. */
const WATCH_OWN_AFTER_MS = 250;

/**
 * All that this service holds. Keeps the session certain while there is something, and tells every hold of its loss in
 * time: one alarm for all, as they live and die with one session.
 */
export class Holders {
  readonly #session: Session;
  readonly #clock: Clock;
  readonly #alarms: Alarms;
  readonly #onSuspended: 'continue' | 'stop';
  readonly #holds = new Roster<Hold>();
  #letGo: (() => void) | undefined;
  #onEmpty: (() => void) | undefined;
  #certaintyAlarm: Alarm | undefined;

  constructor(session: Session, alarms: Alarms, uplink: Uplink, onSuspended: 'continue' | 'stop') {
    this.#session = session;
    this.#clock = session.clock;
    this.#alarms = alarms;
    this.#onSuspended = onSuspended;
    uplink.onChange((state) => this.#onState(state));
    session.certaintyLowered$.subscribe(() => this.#lookAgain());
  }

  get all(): readonly Hold[] {
    return this.#holds.all();
  }

  get isEmpty(): boolean {
    return this.#holds.size === 0;
  }

  /** Resolves when nothing is held, at once if so. */
  async whenEmpty(): Promise<void> {
    if (this.#holds.size > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }

  add(hold: Hold): void {
    this.#holds.add(hold);
    hold.watchAlarm = this.#alarms.set(this.#clock.now() + WATCH_OWN_AFTER_MS, () => hold.watchOwn());
    if (this.#holds.size > 1) return;
    this.#letGo = this.#session.keepCertain();
    this.#armCertainty();
  }

  remove(hold: Hold): void {
    if (!this.#holds.delete(hold)) return;
    hold.watchAlarm?.cancel();
    if (this.#holds.size > 0) return;
    this.#letGo?.();
    this.#certaintyAlarm?.cancel();
    this.#onEmpty?.();
  }

  #onState(state: ConnectionState): void {
    for (const hold of this.all) {
      if (hold.place.session !== this.#session.identity) hold.lose(state === 'closed' ? 'closed' : 'session-ended');
      else if (state === 'suspended' && this.#onSuspended === 'stop') hold.lose('suspended');
      else if (isUp(state) && this.#clock.now() - hold.grantedAt >= WATCH_OWN_AFTER_MS) hold.watchOwn();
    }
  }

  /** The alarm stands at an instant that may be too late now. */
  #lookAgain(): void {
    if (this.isEmpty) return;
    this.#certaintyAlarm?.cancel();
    this.#armCertainty();
  }

  /** The signal comes one margin before certainty ends; every proof of life puts it off. */
  #armCertainty(): void {
    const timeoutMs = this.#session.identity?.timeoutMs ?? 0;
    const tellAt = this.#session.certainUntil() - certaintyMarginMs(timeoutMs);
    if (tellAt > this.#clock.now()) {
      this.#certaintyAlarm = this.#alarms.set(tellAt, () => this.#armCertainty());
      return;
    }
    for (const hold of this.all) hold.lose('uncertain');
  }
}
