import type { Timer } from '../../../lock/clock.js';
import { OK, SESSION_EXPIRED, SESSION_MOVED } from '../tree/error-numbers.js';
import type { Host } from '../time/host.js';

interface TrackedSession {
  bucketMs: number;
  /** The learner through which the session's requests come, or the leader itself. */
  owner: unknown;
  closing: boolean;
}

/** The leader's record of which sessions are alive, by its own clock. Sessions expire together, at whole ticks. */
export class SessionTracker {
  readonly #host: Host;
  readonly #tickMs: number;
  readonly #expire: (sessionId: bigint) => void;
  readonly #sessions = new Map<bigint, TrackedSession>();
  readonly #buckets = new Map<number, Set<bigint>>();
  #timer: Timer | undefined;
  #nextBucketMs: number;

  constructor(host: Host, tickMs: number, expire: (sessionId: bigint) => void) {
    this.#host = host;
    this.#tickMs = tickMs;
    this.#expire = expire;
    this.#nextBucketMs = this.#tickAfter(host.clock.now());
  }

  track(sessionId: bigint, timeoutMs: number, owner: unknown): void {
    if (!this.#sessions.has(sessionId)) {
      this.#sessions.set(sessionId, { bucketMs: -1, owner, closing: false });
    }
    this.touch(sessionId, timeoutMs);
    this.#arm();
  }

  /** @returns whether the session is alive */
  touch(sessionId: bigint, timeoutMs: number): boolean {
    const session = this.#sessions.get(sessionId);
    if (session === undefined || session.closing) return false;
    // A touch moves the session to the first tick that is later than its time-out from now.
    const bucketMs = this.#tickAfter(this.#host.clock.now() + timeoutMs);
    if (bucketMs === session.bucketMs) return true;
    this.#buckets.get(session.bucketMs)?.delete(sessionId);
    session.bucketMs = bucketMs;
    this.#buckets.set(bucketMs, (this.#buckets.get(bucketMs) ?? new Set()).add(sessionId));
    return true;
  }

  setOwner(sessionId: bigint, owner: unknown): void {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) session.owner = owner;
  }

  /** The error of a request that comes through `owner`; 0 where there is none. */
  check(sessionId: bigint, owner: unknown): number {
    const session = this.#sessions.get(sessionId);
    if (session === undefined || session.closing) return SESSION_EXPIRED;
    // After an election the first request through a server makes that server the owner.
    session.owner ??= owner;
    return session.owner === owner ? OK : SESSION_MOVED;
  }

  setClosing(sessionId: bigint): void {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) session.closing = true;
  }

  remove(sessionId: bigint): void {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) this.#buckets.get(session.bucketMs)?.delete(sessionId);
    this.#sessions.delete(sessionId);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #tickAfter(instantMs: number): number {
    return (Math.floor(instantMs / this.#tickMs) + 1) * this.#tickMs;
  }

  #arm(): void {
    if (this.#timer !== undefined || this.#sessions.size === 0) return;
    this.#timer = this.#host.setTimer(this.#nextTickIn(), () => this.#onTick());
  }

  #nextTickIn(): number {
    const nowMs = this.#host.clock.now();
    return this.#tickAfter(nowMs) - nowMs;
  }

  #onTick(): void {
    this.#timer = undefined;
    const nowMs = this.#host.clock.now();
    // A leader that was frozen works off all the ticks that it missed.
    for (; this.#nextBucketMs <= nowMs; this.#nextBucketMs += this.#tickMs) {
      const expired = this.#buckets.get(this.#nextBucketMs);
      this.#buckets.delete(this.#nextBucketMs);
      for (const sessionId of expired ?? []) {
        // From now on requests of the session are refused, although its end is not committed yet.
        this.setClosing(sessionId);
        this.#expire(sessionId);
      }
    }
    this.#arm();
  }
}
