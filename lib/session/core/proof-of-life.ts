import { certaintyMarginMs, MIN_SESSION_TICKS } from '../certainty.js';

/** Samples closer together than this part of a tick tell nothing new. */
const SAMPLES_PER_TICK = 64;
/** Two and a half ticks of steady traffic; beyond that every second one has to do. */
const MAX_SAMPLES = 160;

interface Sample {
  readonly sentAt: number;
  readonly answeredAt: number;
}

/** An answered request that passed the leader, in the order of its connection. */
export interface Passage {
  readonly sentAt: number;
  /** How many answers had come when it was sent. */
  readonly sentAfter: number;
  /** Which answer of the connection it got, counted from 1. */
  readonly answer: number;
}

/** A committed write that nothing sent after its answer has vouched for yet. */
interface Unvouched {
  readonly answer: number;
  /** When the request was sent that the leader knows of, once the write is vouched for. */
  readonly provenAt: number;
}

/**
 * Until when one session is certain to live at the servers; pure arithmetic on instants it is given. The proof is in
 * `docs/locks.md`.
 *
 * A follower answers pings and reads by itself, even when it has lost the leader. The leader, who alone ends sessions,
 * hears of a request from the follower's answer to its own ping, half a tick later at the most. So it takes two answers
 * in a row. A committed write brought the follower every ping that the leader had sent before it. A later request that
 * passed the leader, sent after that answer, shows that the follower's answers to those pings have arrived, too. So the
 * leader knows of whatever the follower had in hand one tick before the write: the session lives S from there.
 *
 * "Had in hand" means answered by then. A request that was merely sent by then may have been stuck on its way, together
 * with the write, and have reached the follower a moment before it.
 */
export class ProofOfLife {
  readonly #tickMs: number;
  #timeoutMs: number;
  #samples: Sample[] = [];
  #unvouched: Unvouched[] = [];
  #provenUntil: number;
  #certainSince: number;
  /** When the session was offered to a server that may have shortened it since: the earliest offer not made up for. */
  #offeredAt: number | undefined;
  /** How many times it was offered since then. */
  #offers = 0;
  /** The handshake by which this connection took the session up again, until a write proves that it reached the leader. */
  #reattachedAt: number | undefined;

  /** @param createdAt when the handshake was sent that created the session: a committed write that starts its clock */
  constructor(timeoutMs: number, tickMs: number, createdAt: number) {
    this.#timeoutMs = timeoutMs;
    this.#tickMs = tickMs;
    this.#provenUntil = this.#endFrom(createdAt);
    this.#certainSince = createdAt;
  }

  /** Since when certainty has not been interrupted: proof that comes after `certainUntil` begins a new stretch. */
  get certainSince(): number {
    return this.#certainSince;
  }

  /** S as it counts for certainty: the smallest that any server has granted this session. */
  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  get certainUntil(): number {
    if (this.#offeredAt === undefined) return this.#provenUntil;
    const leastMs = MIN_SESSION_TICKS * this.#tickMs - certaintyMarginMs(this.#timeoutMs);
    return Math.min(this.#provenUntil, this.#offeredAt + leastMs);
  }

  /** The session was offered to a server. From now on that one may shorten it to two ticks, whether we are told or not. */
  offered(handshakeSentAt: number): void {
    this.#offeredAt ??= handshakeSentAt;
    this.#offers += 1;
  }

  /** A connection took the session up. What an earlier one carried may never have reached the leader. */
  attached(handshakeSentAt: number, answeredAt: number, grantedMs: number): void {
    const before = this.certainUntil;
    if (grantedMs < this.#timeoutMs) {
      // A server with narrower bounds than the last one: the leader counts from this handshake on with the smaller S.
      // One with wider bounds is not believed: what an earlier server still has to tell the leader carries the smaller S.
      this.#timeoutMs = grantedMs;
      this.#provenUntil = Math.min(this.#provenUntil, this.#endFrom(handshakeSentAt));
    }
    this.#samples = [{ sentAt: handshakeSentAt, answeredAt }];
    this.#unvouched = [];
    // Only what was offered can be taken up again; a new session is proved by its own creation.
    this.#reattachedAt = this.#offeredAt === undefined ? undefined : handshakeSentAt;
    // This server has said what it granted. One before it that has not may have granted less, to a leader that is in office
    // although this one asked another.
    if (this.#offers === 1) this.#makeUpForOffers();
    this.#noteProgress(before, answeredAt);
  }

  /** The server of the current connection answered something, whatever it was. */
  answered(sentAt: number, answeredAt: number): void {
    const newest = this.#samples.at(-1);
    if (newest !== undefined && sentAt - newest.sentAt < this.#tickMs / SAMPLES_PER_TICK) return;
    this.#samples.push({ sentAt, answeredAt });
    if (this.#samples.length > MAX_SAMPLES) this.#samples = this.#samples.filter((_sample, index) => index % 2 === 0);
  }

  /** The server of the current connection answered that a write was committed, which became known `now`. */
  committed(write: Passage, now: number): void {
    const before = this.certainUntil;
    this.#proveReattachment();
    this.#vouch(write.sentAfter);
    const ripe = this.#ripeAt(write.sentAt);
    if (ripe !== undefined && this.#endFrom(ripe.sentAt) > this.#provableUntil()) {
      this.#unvouched.push({ answer: write.answer, provenAt: ripe.sentAt });
    }
    this.#noteProgress(before, now);
  }

  /** The server of the current connection answered something that passed the leader and changed nothing: a sync. */
  passed(request: Passage, now: number): void {
    const before = this.certainUntil;
    this.#vouch(request.sentAfter);
    this.#noteProgress(before, now);
  }

  /** Whether a request that passes the leader, sent now, would move `certainUntil` when it is answered. */
  get awaitsPassage(): boolean {
    return this.#unvouched.length > 0;
  }

  /** Whether the next write of this connection, sent whenever, moves `certainUntil` when it is answered. */
  get awaitsWrite(): boolean {
    return this.#reattachedAt !== undefined && this.#endFrom(this.#reattachedAt) > this.certainUntil;
  }

  /**
   * The earliest instant at which sending a write would move `certainUntil`, once it is vouched for; -Infinity where any
   * write would, Infinity where nothing newer was answered.
   */
  nextExtension(): number {
    if (this.awaitsWrite) return -Infinity;
    const until = this.#provableUntil();
    const sample = this.#samples.find(({ sentAt }) => this.#endFrom(sentAt) > until);
    return sample === undefined ? Infinity : sample.answeredAt + this.#tickMs;
  }

  /**
   * The handshake itself made the leader count anew, and the write shows that this leader was in office after that: a
   * connection outlives no change of its server's leader.
   */
  #proveReattachment(): void {
    if (this.#reattachedAt === undefined) return;
    this.#provenUntil = Math.max(this.#provenUntil, this.#endFrom(this.#reattachedAt));
    this.#reattachedAt = undefined;
    this.#makeUpForOffers();
  }

  #makeUpForOffers(): void {
    this.#offeredAt = undefined;
    this.#offers = 0;
  }

  /** What was sent after so many answers vouches for the writes among them. */
  #vouch(answers: number): void {
    while (this.#unvouched.length > 0 && this.#unvouched[0]!.answer <= answers) {
      const { provenAt } = this.#unvouched.shift()!;
      this.#provenUntil = Math.max(this.#provenUntil, this.#endFrom(provenAt));
    }
  }

  #noteProgress(before: number, now: number): void {
    // What was certain only until some moment ago is lost, whatever is proved now.
    if (now >= before && this.certainUntil > before) this.#certainSince = now;
  }

  /** How far certainty reaches when every committed write so far is vouched for. */
  #provableUntil(): number {
    const newest = this.#unvouched.at(-1);
    return newest === undefined ? this.#provenUntil : this.#endFrom(newest.provenAt);
  }

  /** The newest sample that a write sent at this instant vouches for. Later writes need none of the older ones. */
  #ripeAt(writeSentAt: number): Sample | undefined {
    let ripe = 0;
    // Added as in `nextExtension`, so that both round alike.
    while (ripe < this.#samples.length && this.#samples[ripe]!.answeredAt + this.#tickMs <= writeSentAt) ripe += 1;
    if (ripe > 1) this.#samples.splice(0, ripe - 1);
    return ripe === 0 ? undefined : this.#samples[0];
  }

  #endFrom(provenAt: number): number {
    return provenAt + this.#timeoutMs - certaintyMarginMs(this.#timeoutMs);
  }
}
