import type { Clock, Timer } from '../../lock/clock.js';
import { certaintyMarginMs } from '../certainty.js';

interface LivenessActions {
  sendPing(): void;
  onSilence(silentMs: number): void;
  /** Until when what is held is certain; undefined when nothing is. */
  heldUntil(): number | undefined;
}

/** While something is held, silence has to be noticed in time for a re-attach and a write elsewhere. */
const PINGS_PER_TIMEOUT_AT_STAKE = 10;

/**
 * Keeps one connection alive with pings when it is idle, and gives it up after two thirds of S without a byte. One timer
 * for both, however many requests pass: it looks at the clock when it fires, nobody re-arms it.
 *
 * While something is held, two thirds of S may be more than there is certainty. Then a request that was not answered for
 * a third of S ends the connection, once no more certainty is left than a re-attach and a write elsewhere may need: a
 * server that pauses for less is not left.
 *
 * A timer that fires late tells of a blocked event loop: bytes may lie unread behind it. Then silence proves nothing
 * yet, so the server is pinged and the socket gets another third of S. A loop that comes back just ahead of the end of
 * the silence has pinged late, too: the server gets as long for the answer as the timer was late, up to a third of S.
 * That extends the socket's life, never certainty.
 */
export class Liveness {
  readonly #clock: Clock;
  readonly #actions: LivenessActions;
  readonly #silenceMs: number;
  /** How long an answer may take of a server that is only slow. */
  readonly #thirdMs: number;
  readonly #pingEveryMs: number;
  readonly #pingEveryAtStakeMs: number;
  /** What is kept for another server. An offer of the session leaves two ticks: to offer it earlier would cost certainty. */
  readonly #elsewhereMs: number;
  readonly #lateMs: number;
  #heardAt: number;
  #sentAt: number;
  #dueAt = Infinity;
  /** The last time that the timer came noticeably late. */
  #late: { readonly at: number; readonly byMs: number } | undefined;
  /** When the first request was sent after the last byte came. */
  #unansweredSince: number | undefined;
  /** Set while the one grace of this silence runs. */
  #graceUntil: number | undefined;
  #timer: Timer;

  constructor(clock: Clock, timeoutMs: number, tickMs: number, now: number, actions: LivenessActions) {
    this.#clock = clock;
    this.#actions = actions;
    this.#silenceMs = (timeoutMs * 2) / 3;
    this.#thirdMs = timeoutMs / 3;
    this.#pingEveryMs = Math.min(timeoutMs / 3, tickMs);
    this.#pingEveryAtStakeMs = Math.min(timeoutMs / PINGS_PER_TIMEOUT_AT_STAKE, tickMs);
    this.#elsewhereMs = Math.min(timeoutMs / 3, 2 * tickMs);
    this.#lateMs = certaintyMarginMs(timeoutMs);
    this.#heardAt = now;
    this.#sentAt = now;
    this.#timer = this.#arm(now);
  }

  heard(at: number): void {
    this.#heardAt = at;
    this.#unansweredSince = undefined;
    this.#graceUntil = undefined;
  }

  sent(at: number): void {
    this.#sentAt = at;
    this.#unansweredSince ??= at;
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
    const dueAt = Math.max(now, Math.min(this.#pingDueAt(), this.#silenceEndsAt(now)));
    this.#dueAt = dueAt;
    return this.#clock.setTimer(dueAt - now, () => this.#look(dueAt));
  }

  #look(dueAt: number): void {
    const now = this.#clock.now();
    if (now - dueAt >= this.#lateMs) this.#late = { at: now, byMs: now - dueAt };
    if (now >= this.#silenceEndsAt(now)) {
      const graceUntil = this.#graceOf(now);
      if (this.#graceUntil !== undefined || graceUntil <= now) {
        this.#timer = this.#clock.setTimer(0, () => this.#giveUp(now));
        return;
      }
      this.#graceUntil = graceUntil;
      // Earlier in this silence the late timer has sent one already.
      if (this.#late?.at === now) this.#actions.sendPing();
    } else if (now >= this.#pingDueAt()) this.#actions.sendPing();
    this.#timer = this.#arm(now);
  }

  /** Until when silence is excused by a timer that came late in it. */
  #graceOf(now: number): number {
    if (this.#late === undefined || this.#late.at < this.#heardAt) return now;
    if (this.#late.at === now) return now + this.#thirdMs;
    return this.#late.at + Math.min(this.#late.byMs, this.#thirdMs);
  }

  /** Timers come before sockets in a turn of the event loop: what had arrived by the deadline has been read only now. */
  #giveUp(endedAt: number): void {
    if (endedAt < this.#silenceEndsAt(endedAt)) this.#timer = this.#arm(this.#clock.now());
    else this.#actions.onSilence(endedAt - this.#heardAt);
  }

  #pingDueAt(): number {
    const isAtStake = this.#actions.heldUntil() !== undefined;
    return this.#sentAt + (isAtStake ? this.#pingEveryAtStakeMs : this.#pingEveryMs);
  }

  #silenceEndsAt(now: number): number {
    if (this.#graceUntil !== undefined) return this.#graceUntil;
    const endsAt = this.#heardAt + this.#silenceMs;
    const heldUntil = this.#actions.heldUntil();
    // What is lost already is no reason for haste.
    if (this.#unansweredSince === undefined || heldUntil === undefined || heldUntil <= now) return endsAt;
    return Math.min(endsAt, Math.max(this.#unansweredSince + this.#thirdMs, heldUntil - this.#elsewhereMs));
  }
}
