import type { LinkRequest } from '../../core/link.js';
import type { Acl } from '../../requests.js';
import type { Latency } from './latency.js';
import type { SimulatedLink } from './simulated-link.js';

export type Direction = 'to-server' | 'to-client';
/** 'reattach': a handshake that offers a session. */
export type Op = LinkRequest['op'] | 'reattach';

/** A loss that waits for its request. */
export class Ambush {
  isSprung = false;

  constructor(
    readonly kind: 'lose-request' | 'lose-reply',
    readonly op: Op,
  ) {}
}

/** One client's connections, and what is to go wrong with them. */
export class ClientNetwork {
  readonly links = new Set<SimulatedLink>();
  /** For creates that name none; undefined: open to everybody. */
  acl: readonly Acl[] | undefined;
  refusesConnections = false;
  /** As a server last granted it; 0 before that. */
  sessionId = 0n;
  /** Added to each watch event; what the server sends later waits behind it. */
  watchDelayMs = 0;
  /** Instead of the ensemble's own, for this client alone. */
  latencyMs: Latency | undefined;
  readonly #held = new Set<Direction>();
  readonly #ambushes: Ambush[] = [];

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

  /** Both ends learn of it at once. */
  cut(): void {
    for (const link of [...this.links]) link.cut('the connection was reset');
  }

  lieInWait(ambush: Ambush): Ambush {
    this.#ambushes.push(ambush);
    return ambush;
  }

  /** Whether this request or reply is the one to lose. */
  springs(kind: Ambush['kind'], op: Op): boolean {
    const ambush = this.#ambushes.find((waiting) => !waiting.isSprung && waiting.kind === kind && waiting.op === op);
    if (ambush === undefined) return false;
    ambush.isSprung = true;
    return true;
  }
}
