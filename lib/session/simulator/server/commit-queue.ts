import type { Transaction } from '../tree/transaction.js';

interface Outstanding {
  readonly transaction: Transaction;
  readonly loggedBy: Set<number>;
}

/** The transactions that a leader has proposed and not yet committed, in order, and the syncs that wait behind them. */
export class CommitQueue {
  readonly #majority: number;
  readonly #outstanding: Outstanding[] = [];
  readonly #syncs: { readonly behind: bigint; readonly answer: () => void }[] = [];

  constructor(serverCount: number) {
    this.#majority = Math.floor(serverCount / 2) + 1;
  }

  get transactions(): Transaction[] {
    return this.#outstanding.map(({ transaction }) => transaction);
  }

  push(transaction: Transaction): void {
    this.#outstanding.push({ transaction, loggedBy: new Set() });
  }

  logged(zxid: bigint, serverId: number): void {
    this.#outstanding.find(({ transaction }) => transaction.zxid === zxid)?.loggedBy.add(serverId);
  }

  /** Takes the oldest transaction off if a majority has logged it. */
  takeCommittable(): Transaction | undefined {
    // Only the oldest can be committed, as the order of transactions is fixed.
    const [oldest] = this.#outstanding;
    if (oldest === undefined || oldest.loggedBy.size < this.#majority) return undefined;
    this.#outstanding.shift();
    return oldest.transaction;
  }

  /** Calls `answer` when everything that has been proposed so far is committed. */
  sync(answer: () => void): void {
    const behind = this.#outstanding.at(-1)?.transaction.zxid;
    if (behind === undefined) answer();
    else this.#syncs.push({ behind, answer });
  }

  answerSyncs(committed: bigint): void {
    while (this.#syncs[0] !== undefined && this.#syncs[0].behind <= committed) this.#syncs.shift()?.answer();
  }
}
