import type { EngineContext } from '../context.js';
import type { LockTaker } from '../acquire/lock-taker.js';

/** How long the end of the session may take; after that it ends by its time-out. */
const CLOSE_WITHIN_MS = 1_000;

/** The end of a lock service, and of the one that stands in for it. Each step is taken once, however often it is asked for. */
export class Shutdown {
  readonly #context: EngineContext;
  readonly #taker: LockTaker;
  readonly #local: Shutdown | undefined;
  #holdersEnded: Promise<void> | undefined;
  #closed: Promise<void> | undefined;
  #graceEndsAt = -Infinity;

  constructor(context: EngineContext, taker: LockTaker, local: Shutdown | undefined) {
    this.#context = context;
    this.#taker = taker;
    this.#local = local;
  }

  /** Every new request and everybody who waits is refused from now on; holders go on. */
  refuseNewRequests(): void {
    this.#taker.refuse();
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
    const { holders, alarms, interrupts, clock } = this.#context;
    this.#graceEndsAt = clock.now() + graceMs;
    this.refuseNewRequests();
    const ofThisProcess = this.#local?.endHolders(graceMs);
    // Those that wait have been told, and take a few turns of their promises to end: one may hold by now, another has left
    // something to remove (with lock-delay its name, which outlives the session).
    if (!interrupts.isEmpty) await alarms.atMost(CLOSE_WITHIN_MS, interrupts.whenEmpty());
    if (!holders.isEmpty) await alarms.atMost(graceMs, holders.whenEmpty());
    for (const hold of holders.all) hold.lose('closed');
    await ofThisProcess;
  }

  async #close(graceMs: number): Promise<void> {
    const { holders, session, janitor, alarms, events, uplink } = this.#context;
    await this.endHolders(graceMs);
    for (const hold of holders.all) hold.lose('closed');
    await this.#awaitLinkForRemovals();
    // Ending the session removes whatever is left of it, so a cut link is no reason to wait any longer.
    if (uplink.isUp) await alarms.atMost(CLOSE_WITHIN_MS, janitor.idle());
    await session.close(CLOSE_WITHIN_MS);
    await this.#local?.close(0);
    alarms.rest();
    events.complete();
  }

  /**
   * Nobody waits for the removal of what was given back while the link was down: what is left of the grace does. If the link
   * is back by then the next holder enters; otherwise it waits for the end of the session.
   */
  async #awaitLinkForRemovals(): Promise<void> {
    const { session, janitor, alarms, uplink, clock } = this.#context;
    const leftMs = this.#graceEndsAt - clock.now();
    if (janitor.isIdle || leftMs <= 0 || session.state !== 'suspended') return;
    await alarms.atMost(leftMs, uplink.nextChange());
  }
}
