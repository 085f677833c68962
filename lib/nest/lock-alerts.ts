import { clearInterval, setInterval } from 'node:timers';
import { RecentMap } from '../engine/collections.js';
import type { LockAlert } from '../lock/alerts.js';
import { LockAbortedError, LockClosedError, LockUnavailableError } from '../lock/errors.js';
import type { LockEvent } from '../lock/events.js';
import type { ProcessLocks } from '../lock/process-locks.js';
import { visible } from '../lock/visible.js';
import type { AlertThresholds } from '../options.js';

/** A look costs what a look at a few thousand objects costs, so thresholds of minutes need no more of them. */
const LONGEST_PERIOD_MS = 10_000;
const LOOKS_PER_HOLD = 4;
/** At most this many keys with failures are remembered; those that failed last are kept. */
const MAX_KEYS = 1_000;
/** A caller has changed its mind, the service closes, or ZooKeeper is away: that is told of the connection, once for all keys. */
const NO_TROUBLE_WITH_THE_KEY = [LockAbortedError, LockClosedError, LockUnavailableError];
/** A queue that was told must become shorter than this part of the threshold before it is another incident. */
const OVER_BELOW = 0.5;

/** Watches the locks of this process for the three things that an operator wants to be woken for, each told once per incident. */
export class LockAlerts {
  readonly #thresholds: Required<AlertThresholds>;
  readonly #query: () => ProcessLocks;
  readonly #tell: (alert: LockAlert) => void;
  /** The holds and queues that were told, until they are gone. */
  #told = new Set<string>();
  /** How often calls for a key have failed since the last one that did not. */
  readonly #failures = new RecentMap<string, number>(MAX_KEYS);
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(thresholds: Required<AlertThresholds>, query: () => ProcessLocks, tell: (alert: LockAlert) => void) {
    this.#thresholds = thresholds;
    this.#query = query;
    this.#tell = tell;
    const periodMs = Math.max(1, Math.min(LONGEST_PERIOD_MS, thresholds.heldMs / LOOKS_PER_HOLD));
    // Nothing of it keeps the process alive.
    this.#timer = setInterval(() => this.#look(), periodMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Counts failures in a row: they are events, and pass between two looks. */
  onEvent(event: LockEvent): void {
    const { type, key } = event;
    if (type === 'acquired') {
      if (this.#failures.size > 0) this.#failures.delete(key);
      return;
    }
    if (type !== 'failed') return;
    // A try that finds the lock busy has its answer. Whatever else is no trouble with the key is left out, too.
    if (event.busy || NO_TROUBLE_WITH_THE_KEY.some((each) => event.error instanceof each)) return;
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    // It is told by the call that reaches the threshold, which may be no whole number, and by none after it.
    if (failures < this.#thresholds.failures || failures - 1 >= this.#thresholds.failures) return;
    this.#tell({ alert: 'failures', key, label: event.label, template: event.template, failures });
  }

  #look(): void {
    const { heldMs, queueLength } = this.#thresholds;
    const { held, pending } = this.#query();
    const now = new Map<string, LockAlert>();
    for (const { key, label, template, nodePath, ...hold } of held) {
      if (hold.heldMs > heldMs) now.set(nodePath, { alert: 'held', key, label, template, heldMs: hold.heldMs });
    }
    // Many calls may wait for one key: the queue is one incident, told by the call that has most ahead of it.
    for (const { key, label, template, ahead = 0 } of pending) {
      const incident = `queue of ${key}`;
      const other = now.get(incident);
      const least = this.#told.has(incident) ? queueLength * OVER_BELOW : queueLength;
      if (ahead <= least || (other?.alert === 'queue' && other.ahead >= ahead)) continue;
      now.set(incident, { alert: 'queue', key, label, template, ahead });
    }
    for (const [incident, alert] of now) if (!this.#told.has(incident)) this.#tell(alert);
    // What is not there any more may come again, and is another incident then.
    this.#told = new Set(now.keys());
  }
}

/** What happened to which lock, and what to do. */
export function describeAlert(alert: LockAlert): string {
  const { label } = alert;
  const key = visible(alert.key);
  const by = label === undefined ? '' : ` (${visible(label)})`;
  switch (alert.alert) {
    case 'held':
      return (
        `${key} has been held for ${seconds(alert.heldMs)}${by}, and still is. If the work hangs, a leaseMs would end it; ` +
        'alerts.heldMs says from when on this is told'
      );
    case 'queue':
      return (
        `${alert.ahead} are ahead of a call that waits for ${key}${by}, as far as this process knows. Hold it shorter, share ` +
        'it among fewer, or turn callers away with maxWaiting; alerts.queueLength says from when on this is told'
      );
    case 'failures':
      return (
        `${alert.failures} calls for ${key} have failed one after the other${by}: each is an event "failed" with its ` +
        'error. This is told once until a call succeeds'
      );
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
