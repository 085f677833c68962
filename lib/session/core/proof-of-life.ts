import { certaintyMarginMs, MIN_SESSION_TICKS } from '../certainty.js';

/** Samples that are closer together than a tick divided by this tell nothing new. */
const SAMPLES_PER_TICK = 64;
/** Enough samples for two and a half ticks of steady traffic. Where there are more, every second one is dropped. */
const MAX_SAMPLES = 160;

interface Sample {
  readonly sentAt: number;
  readonly answeredAt: number;
}

/** An answered request that passed the leader. Its position among the answers of its connection counts. */
export interface Passage {
  readonly sentAt: number;
  /** How many answers had arrived when the request was sent. */
  readonly sentAfter: number;
  /** The number of this request's answer on its connection, counted from 1. */
  readonly answer: number;
}

/** A committed write that no later request has vouched for yet. */
interface Unvouched {
  readonly answer: number;
  /** When the request was sent that the leader knows of once this write is vouched for. */
  readonly provenAt: number;
}

/**
 * Computes until when one session is certain to live at the servers: pure arithmetic on the instants it is given. The
 * proof is in `docs/locks.md`.
 *
 * A follower answers pings and reads by itself, even when it has lost the leader. Only the leader ends sessions. It
 * hears of a request through the follower's answer to its own ping, which takes up to half a tick, so proof takes two
 * answers in a row. A committed write brought the follower every ping that the leader had sent before it. A later
 * request that passed the leader, sent after the answer to that write, shows that the follower's answers to those pings
 * have arrived, too. So the leader knows of everything that the follower had in hand one tick before the write, and the
 * session lives for S from there.
 *
 * "In hand" means answered by then. A request that was only sent by then may have been stuck on its way together with
 * the write, and have reached the follower just before it.
 */
export class ProofOfLife {
  readonly #tickMs: number;
  #timeoutMs: number;
  #samples: Sample[] = [];
  #unvouched: Unvouched[] = [];
  #provenUntil: number;
  #certainSince: number;
  /**
   * When the session was first offered to a server that may have shortened it, and no proof has made up for that offer
   * yet.
   */
  #offeredAt: number | undefined;
  /** How many times the session was offered since then. */
  #offers = 0;
  /** When the handshake was sent that re-attached the session, until a write proves that it reached the leader. */
  #reattachedAt: number | undefined;

  /**
   * @param createdAt when the handshake was sent that created the session; a creation is a committed write that starts
   * S
   */
  constructor(timeoutMs: number, tickMs: number, createdAt: number) {
    this.#timeoutMs = timeoutMs;
    this.#tickMs = tickMs;
    this.#provenUntil = this.#endFrom(createdAt);
    this.#certainSince = createdAt;
  }

  /** Since when certainty has been unbroken. A proof that comes after `certainUntil` begins a new stretch. */
  get certainSince(): number {
    return this.#certainSince;
  }

  /** S as it counts for certainty: the smallest time-out that any server has granted this session. */
  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  get certainUntil(): number {
    if (this.#offeredAt === undefined) return this.#provenUntil;
    // A server grants two ticks at the least, however much it shortens the session.
    const leastMs = MIN_SESSION_TICKS * this.#tickMs - certaintyMarginMs(this.#timeoutMs);
    return Math.min(this.#provenUntil, this.#offeredAt + leastMs);
  }

  /**
   * The session was offered to a server. That server may shorten it to two ticks, whether this client hears of it or
   * not.
   */
  offered(handshakeSentAt: number): void {
    this.#offeredAt ??= handshakeSentAt;
    this.#offers += 1;
  }

  /** A connection took the session up. Requests of an earlier connection may never have reached the leader. */
  attached(handshakeSentAt: number, answeredAt: number, grantedMs: number): void {
    const before = this.certainUntil;
    if (grantedMs < this.#timeoutMs) {
      // A server with narrower bounds than the last one makes the leader count from this handshake with the smaller S.
      // A server with wider bounds is not believed: an earlier server may still bring the smaller S to the leader.
      this.#timeoutMs = grantedMs;
      this.#provenUntil = Math.min(this.#provenUntil, this.#endFrom(handshakeSentAt));
    }
    this.#samples = [{ sentAt: handshakeSentAt, answeredAt }];
    this.#unvouched = [];
    // Only an offered session can be taken up again. A new session is proved by its own creation.
    this.#reattachedAt = this.#offeredAt === undefined ? undefined : handshakeSentAt;
    // This server has said what it granted. If another server was offered the session before and never answered, it may
    // have granted less to a leader that is in office although this server asked another leader.
    if (this.#offers === 1) this.#makeUpForOffers();
    this.#noteProgress(before, answeredAt);
  }

  /** The server of the current connection answered a request, whatever the request was. */
  answered(sentAt: number, answeredAt: number): void {
    const newest = this.#samples.at(-1);
    if (newest !== undefined && sentAt - newest.sentAt < this.#tickMs / SAMPLES_PER_TICK) return;
    this.#samples.push({ sentAt, answeredAt });
    // Thinning keeps the range of instants and loses only precision.
    if (this.#samples.length > MAX_SAMPLES) this.#samples = this.#samples.filter((_sample, index) => index % 2 === 0);
  }

  /** The server of the current connection answered that a write was committed. The answer was read at `now`. */
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

  /** The server of the current connection answered a request that passed the leader and changed nothing: a sync. */
  passed(request: Passage, now: number): void {
    const before = this.certainUntil;
    this.#vouch(request.sentAfter);
    this.#noteProgress(before, now);
  }

  /** Whether the answer to a request that passes the leader, sent now, would move `certainUntil`. */
  get awaitsPassage(): boolean {
    return this.#unvouched.length > 0;
  }

  /** Whether the answer to the next write of this connection, sent at any time, would move `certainUntil`. */
  get awaitsWrite(): boolean {
    return this.#reattachedAt !== undefined && this.#endFrom(this.#reattachedAt) > this.certainUntil;
  }

  /**
   * The earliest instant at which a write, once it is vouched for, would move `certainUntil`. -Infinity says that any
   * write would; Infinity says that nothing newer has been answered.
   */
  nextExtension(): number {
    if (this.awaitsWrite) return -Infinity;
    const until = this.#provableUntil();
    const sample = this.#samples.find(({ sentAt }) => this.#endFrom(sentAt) > until);
    return sample === undefined ? Infinity : sample.answeredAt + this.#tickMs;
  }

  #proveReattachment(): void {
    // The handshake made the leader count anew, and the write shows that this leader was in office after it: a
    // connection does not survive a change of its server's leader.
    if (this.#reattachedAt === undefined) return;
    this.#provenUntil = Math.max(this.#provenUntil, this.#endFrom(this.#reattachedAt));
    this.#reattachedAt = undefined;
    this.#makeUpForOffers();
  }

  #makeUpForOffers(): void {
    this.#offeredAt = undefined;
    this.#offers = 0;
  }

  /** Vouches for the writes among the first `answers` answers: the vouching request was sent after them. */
  #vouch(answers: number): void {
    while (this.#unvouched.length > 0 && this.#unvouched[0]!.answer <= answers) {
      const { provenAt } = this.#unvouched.shift()!;
      this.#provenUntil = Math.max(this.#provenUntil, this.#endFrom(provenAt));
    }
  }

  #noteProgress(before: number, now: number): void {
    // Certainty that ran out a moment ago stays lost, whatever is proved now.
    if (now >= before && this.certainUntil > before) this.#certainSince = now;
  }

  /** How far certainty reaches once every committed write so far is vouched for. */
  #provableUntil(): number {
    const newest = this.#unvouched.at(-1);
    return newest === undefined ? this.#provenUntil : this.#endFrom(newest.provenAt);
  }

  /** The newest sample that a write sent at this instant proves. Later writes need none of the older samples. */
  #ripeAt(writeSentAt: number): Sample | undefined {
    let ripe = 0;
    // The sum is written as in `nextExtension`, so that both are rounded alike.
    while (ripe < this.#samples.length && this.#samples[ripe]!.answeredAt + this.#tickMs <= writeSentAt) ripe += 1;
    if (ripe > 1) this.#samples.splice(0, ripe - 1);
    return ripe === 0 ? undefined : this.#samples[0];
  }

  #endFrom(provenAt: number): number {
    return provenAt + this.#timeoutMs - certaintyMarginMs(this.#timeoutMs);
  }
}
