import type { LinkRequest } from '../../core/link.js';
import type { Acl } from '../../requests.js';
import type { Latency } from './latency.js';
import type { SimulatedLink } from './simulated-link.js';

export type Direction = 'to-server' | 'to-client';
/** 'reattach' stands for a handshake that offers a session. */
export type Op = LinkRequest['op'] | 'reattach';

/** A loss that waits for its request or its reply. */
export class PlannedLoss {
  hasHappened = false;

  constructor(
    readonly kind: 'lose-request' | 'lose-reply',
    readonly op: Op,
  ) {}
}

/** One client's connections, and the faults that are planned for them. */
export class ClientNetwork {
  readonly links = new Set<SimulatedLink>();
  /** The access rights of creates that name none; undefined opens nodes to everybody. */
  acl: readonly Acl[] | undefined;
  refusesConnections = false;
  /** The session that a server last granted; 0 before that. */
  sessionId = 0n;
  /** A delay for each watch event. Later messages of the server wait behind it. */
  watchDelayMs = 0;
  /** The latency of this client alone; undefined stands for the ensemble's own. */
  latencyMs: Latency | undefined;
  readonly #held = new Set<Direction>();
  readonly #plannedLosses: PlannedLoss[] = [];

  constructor(readonly clientName: string) {}

  isHeld(direction: Direction): boolean {
    return this.#held.has(direction);
  }

  hold(directions: readonly Direction[]): void {
    for (const direction of directions) this.#held.add(direction);
    for (const link of this.links) link.refreshReach();
  }

  release(): void {
    this.#held.clear();
    for (const link of this.links) link.refreshReach();
  }

  /** Resets all connections. Both ends learn of it at once. */
  cut(): void {
    for (const link of [...this.links]) link.cut('the connection was reset');
  }

  planLoss(loss: PlannedLoss): PlannedLoss {
    this.#plannedLosses.push(loss);
    return loss;
  }

  /** Whether this request or reply is to be lost. */
  losesNow(kind: PlannedLoss['kind'], op: Op): boolean {
    // A planned loss happens once, to the first message of its kind.
    const loss = this.#plannedLosses.find(
      (waiting) => !waiting.hasHappened && waiting.kind === kind && waiting.op === op,
    );
    if (loss === undefined) return false;
    loss.hasHappened = true;
    return true;
  }
}
