import type { LossReason } from '../../lock/events.js';
import type { Session } from '../../session/session.js';
import type { Timers } from '../timers.js';
import type { Janitor } from './janitor.js';
import type { LinkState } from './link-state.js';

/** What there is to end, besides the session. */
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
  /** Every new request and everybody who waits is refused from then on. */
  readonly refuse: () => void;
}

/** How long the end of the session may take; after that it ends by its time-out. */
const CLOSE_WITHIN_MS = 1_000;

/** The end of a lock service, and of the one that stands in for it. Each step is taken once, however often it is asked for. */
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

  /** Every new request and everybody who waits is refused from now on; holders go on. */
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
    // Those that wait have been told, and take a few turns of their promises to end: one may hold by now, another has left
    // something to remove (with lock-delay its name, which outlives the session).
    if (!calls.isEmpty) await timers.atMost(CLOSE_WITHIN_MS, calls.whenEmpty());
    if (!holders.isEmpty) await timers.atMost(graceMs, holders.whenEmpty());
    for (const hold of holders.all) hold.lose('closed');
    await ofThisProcess;
  }

  async #close(graceMs: number): Promise<void> {
    const { holders, session, janitor, timers, events, link } = this.#parts;
    await this.endHolders(graceMs);
    for (const hold of holders.all) hold.lose('closed');
    await this.#awaitLinkForRemovals();
    // Ending the session removes whatever is left of it, so a cut link is no reason to wait any longer.
    if (link.isUp) await timers.atMost(CLOSE_WITHIN_MS, janitor.idle());
    await session.close(CLOSE_WITHIN_MS);
    await this.#local?.close(0);
    timers.rest();
    events.complete();
  }

  /**
   * Nobody waits for the removal of what was given back while the link was down: what is left of the grace does. If the link
   * is back by then the next holder enters; otherwise it waits for the end of the session.
   */
  async #awaitLinkForRemovals(): Promise<void> {
    const { session, janitor, timers, link } = this.#parts;
    const leftMs = this.#graceEndsAt - session.clock.now();
    if (janitor.isIdle || leftMs <= 0 || session.state !== 'suspended') return;
    await timers.atMost(leftMs, link.nextChange());
  }
}
