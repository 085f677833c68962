import type { SeenTree } from '../look/look-around.js';

/**
 * Tells when something had happened at the latest, by its transaction id. The servers say of a node which transaction changed its
 * children last, and not when; of other nodes they say both the transaction that made them and the time.
 */
export class ZxidClock {
  readonly #marks: { readonly zxid: bigint; readonly at: number }[] = [];
  #isSorted = true;

  /** Some transaction was carried out at this time, or before. */
  learn(zxid: bigint, at: number): void {
    this.#marks.push({ zxid, at });
    this.#isSorted = false;
  }

  /** @returns undefined where nothing is known that happened as late as that, or later */
  latest(zxid: bigint): number | undefined {
    this.#sort();
    let [from, to] = [0, this.#marks.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.#marks[middle]!.zxid < zxid) from = middle + 1;
      else to = middle;
    }
    return this.#marks[from]?.at;
  }

  #sort(): void {
    if (this.#isSorted) return;
    this.#marks.sort((one, other) => (one.zxid < other.zxid ? -1 : one.zxid > other.zxid ? 1 : one.at - other.at));
    this.#isSorted = true;
  }
}

/** At most this many earlier looks are remembered. */
const MAX_MARKS = 100;

/** The looks of one doctor have shown these times of transactions. */
export class Marks {
  readonly #earlier: { readonly zxid: bigint; readonly at: number }[] = [];

  /** A clock of what one look has shown, and earlier ones. */
  clockFor({ nodes, keys }: Pick<SeenTree, 'nodes' | 'keys'>): ZxidClock {
    const clock = new ZxidClock();
    for (const { zxid, at } of this.#earlier) clock.learn(zxid, at);
    for (const { stat } of nodes) {
      clock.learn(stat.czxid, stat.ctime);
      clock.learn(stat.mzxid, stat.mtime);
    }
    for (const { contenders } of keys)
      for (const { snapshot, czxid } of contenders) clock.learn(czxid, snapshot.since.getTime());
    return clock;
  }

  /** All that a look has shown had happened by its end. */
  remember({ nodes }: Pick<SeenTree, 'nodes'>, endedAt: number): void {
    let last = 0n;
    for (const { stat } of nodes) for (const zxid of [stat.czxid, stat.mzxid, stat.pzxid]) if (zxid > last) last = zxid;
    this.#earlier.push({ zxid: last, at: endedAt });
    if (this.#earlier.length > MAX_MARKS) this.#earlier.shift();
  }
}
