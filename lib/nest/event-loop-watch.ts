import { monitorEventLoopDelay } from 'node:perf_hooks';

/** So many looks see every block that matters, and cost next to nothing. */
const LOOKS_PER_SESSION_TIMEOUT = 20;
const NOTICEABLE_PART = 1 / 4;
const NANOSECONDS_PER_MILLISECOND = 1e6;

/**
 * Knows whether the event loop was blocked for so long that it cost a noticeable part of the session time-out. Node
 * measures in native code (a fifteenth of what a timer of ours would cost, and it keeps no process alive); we read the
 * result, in 25 ns, when something happens to a lock anyway.
 */
export class EventLoopWatch {
  readonly #delays: ReturnType<typeof monitorEventLoopDelay>;
  readonly #lookEveryMs: number;
  readonly #noticeableMs: number;

  constructor(sessionTimeoutMs: number) {
    this.#lookEveryMs = Math.max(1, Math.round(sessionTimeoutMs / LOOKS_PER_SESSION_TIMEOUT));
    this.#noticeableMs = sessionTimeoutMs * NOTICEABLE_PART;
    this.#delays = monitorEventLoopDelay({ resolution: this.#lookEveryMs });
    this.#delays.enable();
  }

  /** The longest block since the last one that was told; undefined when there was none to speak of. */
  takeNoticeableLagMs(): number | undefined {
    // Node measures the time between two looks, so an idle loop already shows the interval.
    const lagMs = this.#delays.max / NANOSECONDS_PER_MILLISECOND - this.#lookEveryMs;
    if (!(lagMs >= this.#noticeableMs)) return undefined;
    this.#delays.reset();
    return lagMs;
  }

  stop(): void {
    this.#delays.disable();
  }
}
