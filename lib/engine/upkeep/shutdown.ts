import type { LossReason } from '../../lock/events.js';
import type { Session } from '../../session/session.js';
import type { Timers } from '../timers.js';
import type { Janitor } from './janitor.js';
import type { LinkState } from './link-state.js';

/** The parts of a lock service that its end concerns. */
export interface ShutdownParts {
  readonly session: Session;
  readonly link: LinkState;
  readonly timers: Timers;
  readonly janitor: Janitor;
  readonly calls: { readonly isEmpty: boolean; whenEmpty(): Promise<void> };
  readonly holders: {
    readonly isEmpty: boolean;
    readonly all: readonly { lose(reason: LossReason): void }[];
    whenEmpty(): Promise<void>;
  };
  readonly events: { complete(): void };
  /** Refuses new requests, and ends those that wait. */
  readonly refuse: () => void;
}

/** How long ending the session may take. After that the servers end it by its time-out. */
const CLOSE_WITHIN_MS = 1_000;

/** Ends a lock service, and the local one that stands in for it. Each step is taken once, however often it is asked for. */
export class Shutdown {
  readonly #parts: ShutdownParts;
  readonly #local: Shutdown | undefined;
  #holdersEnded: Promise<void> | undefined;
  #closed: Promise<void> | undefined;
  #graceEndsAt = -Infinity;

  constructor(parts: ShutdownParts, local: Shutdown | undefined) {
    this.#parts = parts;
    this.#local = local;
  }

  /** Refuses new requests and ends those that wait. Holders keep their locks. */
  refuseNewRequests(): void {
    this.#parts.refuse();
    this.#local?.refuseNewRequests();
  }

  endHolders(graceMs: number): Promise<void> {
    this.#holdersEnded ??= this.#endHolders(graceMs);
    return this.#holdersEnded;
  }

  close(graceMs: number): Promise<void> {
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #endHolders(graceMs: number): Promise<void> {
    const { holders, timers, calls, session } = this.#parts;
    this.#graceEndsAt = session.clock.now() + graceMs;
    this.refuseNewRequests();
    const ofThisProcess = this.#local?.endHolders(graceMs);
    // The calls that wait have been ended, which takes a few turns of promises. One of them may turn out to hold, and others
    // leave nodes to remove (with a lock-delay also a name in a record, which outlives the session).
    if (!calls.isEmpty) await timers.atMost(CLOSE_WITHIN_MS, calls.whenEmpty());
    if (!holders.isEmpty) await timers.atMost(graceMs, holders.whenEmpty());
    for (const hold of holders.all) hold.lose('closed');
    await ofThisProcess;
  }

  async #close(graceMs: number): Promise<void> {
    const { holders, session, janitor, timers, events, link } = this.#parts;
    await this.endHolders(graceMs);
    // A call that was slow to end may have entered since.
    for (const hold of holders.all) hold.lose('closed');
    await this.#awaitLinkForRemovals();
    // The end of the session removes its nodes anyway, so a cut link is no reason to wait any longer.
    if (link.isUp) await timers.atMost(CLOSE_WITHIN_MS, janitor.idle());
    await session.close(CLOSE_WITHIN_MS);
    await this.#local?.close(0);
    timers.rest();
    events.complete();
  }

  /**
   * Waits for the link with what is left of the grace, if locks that were released while it was down still have nodes. If the
   * link comes back, the next holders can enter; otherwise they wait for the end of the session.
   */
  async #awaitLinkForRemovals(): Promise<void> {
    const { session, janitor, timers, link } = this.#parts;
    const leftMs = this.#graceEndsAt - session.clock.now();
    if (janitor.isIdle || leftMs <= 0 || session.state !== 'suspended') return;
    await timers.atMost(leftMs, link.nextChange());
  }
}
