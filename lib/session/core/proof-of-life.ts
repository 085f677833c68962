import { certaintyMarginMs } from '../certainty.js';

/** Samples closer together than this part of a tick tell nothing new. */
const SAMPLES_PER_TICK = 64;
/** Two and a half ticks of steady traffic; beyond that every second one has to do. */
const MAX_SAMPLES = 160;

interface Sample {
  readonly sentAt: number;
  readonly answeredAt: number;
}

/**
 * Until when one session is certain to live at the servers; pure arithmetic on instants it is given.
 *
 * A follower answers pings and reads by itself, even when it has lost the leader. The leader, who alone ends sessions,
 * hears of a request from the follower's answer to its own ping, half a tick later at the most. A committed write shows
 * that the way from this follower to the leader was open when the write passed. So whatever the follower had in hand one
 * tick before that write, the leader knows of: the session lives S from there.
 *
 * "Had in hand" means answered by then. A request that was merely sent by then may have been stuck on its way, together
 * with the write, and have reached the follower a moment before it.
 */
export class ProofOfLife {
  readonly #tickMs: number;
  #timeoutMs: number;
  #samples: Sample[] = [];
  #certainUntil: number;
  #certainSince: number;

  /** @param createdAt when the handshake was sent that created the session: a committed write that starts its clock */
  constructor(timeoutMs: number, tickMs: number, createdAt: number) {
    this.#timeoutMs = timeoutMs;
    this.#tickMs = tickMs;
    this.#certainUntil = this.#endFrom(createdAt);
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
    return this.#certainUntil;
  }

  /** A connection took the session up. What an earlier one carried may never have reached the leader. */
  attached(handshakeSentAt: number, answeredAt: number, grantedMs: number): void {
    if (grantedMs < this.#timeoutMs) {
      // A server with narrower bounds than the last one: the leader counts from this handshake on with the smaller S.
      // One with wider bounds is not believed: what an earlier server still has to tell the leader carries the smaller S.
      this.#timeoutMs = grantedMs;
      this.#certainUntil = Math.min(this.#certainUntil, this.#endFrom(handshakeSentAt));
    }
    this.#samples = [{ sentAt: handshakeSentAt, answeredAt }];
  }

  /** The server of the current connection answered something, whatever it was. */
  answered(sentAt: number, answeredAt: number): void {
    const newest = this.#samples.at(-1);
    if (newest !== undefined && sentAt - newest.sentAt < this.#tickMs / SAMPLES_PER_TICK) return;
    this.#samples.push({ sentAt, answeredAt });
    if (this.#samples.length > MAX_SAMPLES) this.#samples = this.#samples.filter((_sample, index) => index % 2 === 0);
  }

  /** The server of the current connection answered that a write was committed, which became known `now`. */
  committed(writeSentAt: number, now: number): void {
    const ripe = this.#ripeAt(writeSentAt);
    if (ripe === undefined) return;
    const until = this.#endFrom(ripe.sentAt);
    if (until <= this.#certainUntil) return;
    if (now >= this.#certainUntil) this.#certainSince = now;
    this.#certainUntil = until;
  }

  /** The earliest instant at which sending a write would move `certainUntil`; Infinity when nothing newer was answered. */
  nextExtension(): number {
    const sample = this.#samples.find(({ sentAt }) => this.#endFrom(sentAt) > this.#certainUntil);
    return sample === undefined ? Infinity : sample.answeredAt + this.#tickMs;
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
