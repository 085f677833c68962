import type { Clock, Timer } from '../../lock/clock.js';
import { certaintyMarginMs } from '../certainty.js';

interface LivenessActions {
  sendPing(): void;
  onSilence(silentMs: number): void;
}

/**
 * Keeps one connection alive with pings when it is idle, and gives it up after two thirds of S without a byte. One timer
 * for both, however many requests pass: it looks at the clock when it fires, nobody re-arms it.
 *
 * A timer that fires late tells of a blocked event loop: bytes may lie unread behind it. Then silence proves nothing
 * yet, so the server is pinged and the socket gets another third of S. That extends the socket's life, never certainty.
 */
export class Liveness {
  readonly #clock: Clock;
  readonly #actions: LivenessActions;
  readonly #silenceMs: number;
  readonly #graceMs: number;
  readonly #pingEveryMs: number;
  readonly #lateMs: number;
  #heardAt: number;
  #sentAt: number;
  #dueAt = Infinity;
  /** The last time that the timer came noticeably late. */
  #late: { readonly at: number; readonly byMs: number } | undefined;
  /** Set while the one grace of this silence runs. */
  #graceUntil: number | undefined;
  #timer: Timer;

  constructor(clock: Clock, timeoutMs: number, tickMs: number, now: number, actions: LivenessActions) {
    this.#clock = clock;
    this.#actions = actions;
    this.#silenceMs = (timeoutMs * 2) / 3;
    this.#graceMs = timeoutMs / 3;
    this.#pingEveryMs = Math.min(timeoutMs / 3, tickMs);
    this.#lateMs = certaintyMarginMs(timeoutMs);
    this.#heardAt = now;
    this.#sentAt = now;
    this.#timer = this.#arm(now);
  }

  heard(at: number): void {
    this.#heardAt = at;
    this.#graceUntil = undefined;
  }

  sent(at: number): void {
    this.#sentAt = at;
  }

  stop(): void {
    this.#timer.cancel();
  }

  /**
   * For how long the event loop stood still after `since`, at least: by how much the timer came late, or is late now. What
   * came before the timer was due is not seen.
   */
  stalledMs(since: number): number {
    const overdueMs = this.#clock.now() - this.#dueAt;
    const lateMs = this.#late !== undefined && this.#late.at > since ? this.#late.byMs : 0;
    return Math.max(lateMs, overdueMs < this.#lateMs ? 0 : overdueMs);
  }

  #arm(now: number): Timer {
    const silenceEndsAt = this.#graceUntil ?? this.#heardAt + this.#silenceMs;
    const dueAt = Math.min(this.#sentAt + this.#pingEveryMs, silenceEndsAt);
    this.#dueAt = Math.max(now, dueAt);
    return this.#clock.setTimer(Math.max(0, dueAt - now), () => this.#look(dueAt));
  }

  #look(dueAt: number): void {
    const now = this.#clock.now();
    if (now - dueAt >= this.#lateMs) this.#late = { at: now, byMs: now - dueAt };
    if (now >= (this.#graceUntil ?? this.#heardAt + this.#silenceMs)) {
      if (this.#graceUntil !== undefined || now - dueAt < this.#lateMs) {
        this.#timer = this.#clock.setTimer(0, () => this.#giveUp(now));
        return;
      }
      this.#graceUntil = now + this.#graceMs;
      this.#actions.sendPing();
    } else if (now >= this.#sentAt + this.#pingEveryMs) this.#actions.sendPing();
    this.#timer = this.#arm(now);
  }

  /** Timers come before sockets in a turn of the event loop: what had arrived by the deadline has been read only now. */
  #giveUp(endedAt: number): void {
    if (endedAt < this.#heardAt + this.#silenceMs) this.#timer = this.#arm(this.#clock.now());
    else this.#actions.onSilence(endedAt - this.#heardAt);
  }
}
