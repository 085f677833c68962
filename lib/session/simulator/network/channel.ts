import type { Timeline } from '../time/timeline.js';

interface Parcel<T> {
  arrivesAt: number;
  readonly message: T;
}

/**
 * One direction of a connection. Messages keep their order, and none is lost while the connection stands. Messages that
 * arrive together are handed over together, like frames in one segment; a seeded timeline may split a segment anywhere.
 */
export class Channel<T> {
  readonly #timeline: Timeline;
  readonly #drawDelayMs: () => number;
  readonly #receive: (messages: readonly T[]) => void;
  #underWay: Parcel<T>[] = [];
  #armed = false;
  #held = false;
  #cut = false;

  constructor(timeline: Timeline, drawDelayMs: () => number, receive: (messages: readonly T[]) => void) {
    this.#timeline = timeline;
    this.#drawDelayMs = drawDelayMs;
    this.#receive = receive;
  }

  get pending(): number {
    return this.#underWay.length;
  }

  /** @param extraMs a delay in addition to the channel's own; later messages wait behind this one */
  send(message: T, extraMs = 0): void {
    if (this.#cut) return;
    this.#underWay.push({ arrivesAt: this.#timeline.now() + this.#drawDelayMs() + extraMs, message });
    this.#arm();
  }

  /** Holds messages back like a black hole, without losing them: TCP keeps sending what is not acknowledged. */
  hold(held: boolean): void {
    if (held === this.#held) return;
    this.#held = held;
    if (held) return;
    const arrivesAt = this.#timeline.now() + this.#drawDelayMs();
    // Held messages need the way's whole latency from the end of the hold on.
    for (const parcel of this.#underWay) parcel.arrivesAt = Math.max(parcel.arrivesAt, arrivesAt);
    this.#arm();
  }

  /** Cuts the channel for good. Messages under way are lost. */
  cut(): void {
    this.#cut = true;
    this.#underWay = [];
  }

  #arm(): void {
    const next = this.#underWay[0];
    if (next === undefined || this.#armed || this.#held) return;
    this.#armed = true;
    this.#timeline.after(next.arrivesAt - this.#timeline.now(), () => this.#arrive());
  }

  #arrive(): void {
    this.#armed = false;
    // The hold may have begun after this arrival was scheduled.
    if (this.#held) return;
    const arrived = this.#underWay.splice(0, this.#segmentLength());
    this.#arm();
    if (arrived.length > 0) this.#receive(arrived.map((parcel) => parcel.message));
  }

  #segmentLength(): number {
    const nowMs = this.#timeline.now();
    let length = 0;
    while ((this.#underWay[length]?.arrivesAt ?? Infinity) <= nowMs) length += 1;
    const chance = this.#timeline.chance;
    // A seeded run splits one segment in four, because TCP may split anywhere.
    if (chance === undefined || length < 2 || chance.integer(4) > 0) return length;
    return 1 + chance.integer(length);
  }
}
