import type { Grant } from './grants.js';
import type { Judge } from './judge.js';
import { compatible } from './queue-rules.js';
import type { Entry, Truth } from './truth.js';

/** Whether who holds may have contenders in front of it: only those of its own session that gave back what they had. */
export class HandOvers {
  readonly #judge: Judge;
  readonly #truth: Truth;
  /** Contenders whose process has let others of its own in before them: they have departed, and must never hold. */
  readonly #departed = new Set<string>();
  /** By the id of the contender, which the intent of an upgrade shares. */
  readonly #holders = new Map<string, Grant>();

  constructor(judge: Judge, truth: Truth) {
    this.#judge = judge;
    this.#truth = truth;
  }

  /** To be called for each who is given a lock, after those ahead of it were checked. */
  granted(grant: Grant, id: string | undefined): void {
    if (this.#departed.has(grant.path))
      this.#judge.blame('first come, first served', `${grant.name} holds after others were let in before it`);
    if (id !== undefined && !this.#holders.has(id)) this.#holders.set(id, grant);
  }

  /** @returns the nearest one in front of it that excludes it, though it has departed */
  checkThoseAhead(grant: Grant, entry: Entry): Entry | undefined {
    let nearest: Entry | undefined;
    for (const ahead of this.#truth.queue(entry.queuePath)) {
      if (ahead.sequence >= entry.sequence || compatible(ahead.mode, entry.mode)) continue;
      if (nearest === undefined || ahead.sequence > nearest.sequence) nearest = ahead;
      if (this.#mayHaveDeparted(ahead, entry)) this.#departed.add(ahead.path);
      else this.#judge.blame('first come, first served', `${grant.name} holds, and ${ahead.path} is in front of it`);
    }
    return nearest;
  }

  /** Whether one in front of it, of the same process, gave its lock back while its node was gone, and had not been told of that. */
  wasUnawareOfRemoval({ app }: Grant, { queuePath, sequence }: Entry): boolean {
    for (const holder of this.#holders.values()) {
      const removal = this.#truth.removal(holder.path);
      if (holder.app !== app || removal === undefined) continue;
      const isAhead = removal.entry.queuePath === queuePath && removal.entry.sequence < sequence;
      if (isAhead && holder.isReleasedInOrder && removal.atMs <= holder.releasedAtMs) return true;
    }
    return false;
  }

  #mayHaveDeparted(ahead: Entry, entry: Entry): boolean {
    if (ahead.sessionId !== entry.sessionId || ahead.usesRecord) return false;
    const holder = this.#holders.get(ahead.id);
    // One that never held has given its place back. Of several locks the engine gives the others back when one is lost.
    return holder === undefined || holder.isReleasedInOrder || (holder.multi !== undefined && !holder.isHeldNow());
  }
}
