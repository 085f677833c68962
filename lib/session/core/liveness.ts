import type { Clock, Timer } from '../../lock/clock.js';
import { certaintyMarginMs } from '../certainty.js';

/** What was granted to the session, and how often its servers look at the clock. */
interface SessionTimes {
  readonly timeoutMs: number;
  readonly tickMs: number;
}

interface LivenessActions {
  sendPing(): void;
  onSilence(silentMs: number): void;
  /** The instant until which held locks are certain; undefined when nothing is held. */
  heldUntil(): number | undefined;
}

/**
 * While something is held, pings go more often: silence must be noticed in time for a re-attach and a write at another
 * server.
 */
const PINGS_PER_TIMEOUT_AT_STAKE = 10;

/**
 * Keeps an idle connection alive with pings, and gives it up after two thirds of S without a byte.
 *
 * While something is held, two thirds of S may be longer than certainty lasts. Then a request that stays unanswered for
 * a third of S also ends the connection, once the certainty that is left may be needed for a re-attach and a write at
 * another server. A server that pauses for less keeps its clients.
 *
 * A timer that fires late proves nothing about the server: the event loop was blocked, and bytes may lie unread in the
 * socket. The server is then pinged and gets another third of S. If the loop comes back just ahead of the end of the
 * silence, its ping was late as well, and the server gets as long as the timer was late, up to a third of S. This
 * extends the life of the socket, never certainty.
 */
export class Liveness {
  readonly #clock: Clock;
  readonly #actions: LivenessActions;
  readonly #silenceMs: number;
  /** How long a server that is only slow may take to answer. */
  readonly #thirdMs: number;
  readonly #pingEveryMs: number;
  readonly #pingEveryAtStakeMs: number;
  /**
   * How much certainty is kept back for another server. Offering the session leaves two ticks of certainty, so an offer
   * that comes sooner than that gives certainty away.
   */
  readonly #elsewhereMs: number;
  readonly #lateMs: number;
  #heardAt: number;
  #sentAt: number;
  #dueAt = Infinity;
  /** The last time that the timer was noticeably late. */
  #late: { readonly at: number; readonly byMs: number } | undefined;
  /** When the first request after the last received byte was sent. */
  #unansweredSince: number | undefined;
  /** Set while the one grace period of this silence runs. */
  #graceUntil: number | undefined;
  #timer: Timer;

  constructor(clock: Clock, { timeoutMs, tickMs }: SessionTimes, now: number, actions: LivenessActions) {
    this.#clock = clock;
    this.#actions = actions;
    this.#silenceMs = (timeoutMs * 2) / 3;
    this.#thirdMs = timeoutMs / 3;
    // A write proves only what was answered a tick before it. With two pings in what S has beyond that tick, a lock that
    // is acquired on an idle connection can be proved again in time, also where S is two ticks.
    this.#pingEveryMs = Math.min(timeoutMs / 3, tickMs, Math.max(timeoutMs / 4, (timeoutMs - tickMs) / 2));
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
   * For how long, at the least, the event loop stood still after `since`: by how much the timer was late, or is late
   * now. A stall that ended before the timer was due is not seen.
   */
  stalledMs(since: number): number {
    const overdueMs = this.#clock.now() - this.#dueAt;
    const lateMs = this.#late !== undefined && this.#late.at > since ? this.#late.byMs : 0;
    return Math.max(lateMs, overdueMs < this.#lateMs ? 0 : overdueMs);
  }

  // One timer serves pings and silence, however many requests pass: it looks at the clock when it fires, and no request
  // re-arms it.
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
      // Where the timer was late earlier in this silence, its ping has been sent already.
      if (this.#late?.at === now) this.#actions.sendPing();
    } else if (now >= this.#pingDueAt()) this.#actions.sendPing();
    this.#timer = this.#arm(now);
  }

  /** The instant until which the current silence is excused, because the timer was late in it. */
  #graceOf(now: number): number {
    if (this.#late === undefined || this.#late.at < this.#heardAt) return now;
    if (this.#late.at === now) return now + this.#thirdMs;
    return this.#late.at + Math.min(this.#late.byMs, this.#thirdMs);
  }

  #giveUp(endedAt: number): void {
    // Timers run before sockets in a turn of the event loop: bytes that arrived by the deadline have been read only
    // now.
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
    // A lock that is lost already is no reason for haste.
    if (this.#unansweredSince === undefined || heldUntil === undefined || heldUntil <= now) return endsAt;
    return Math.min(endsAt, Math.max(this.#unansweredSince + this.#thirdMs, heldUntil - this.#elsewhereMs));
  }
}
