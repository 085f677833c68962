import type { LockMode } from '../../../lib/lock/mode.js';
import type { AppProcess } from './app-process.js';
import type { Grant } from './grants.js';
import { compatible, type Contender } from './queue-rules.js';
import type { Entry } from './truth.js';

/** What is to be known of somebody in a queue to count it. */
export type Counted = Pick<Contender, 'mode' | 'id'>;

/** A call for a lock, from its question on. */
export class AskedCall {
  /** Its contenders, as the servers have made them. */
  readonly nodes: Entry[] = [];
  grant: Grant | undefined;
  /** Its promise has settled. */
  isSettled = false;
  /** Its node was removed when it had given up or given back: its process knows. */
  hasLeft = false;
  /** It was refused because the queue was full. */
  isRefused = false;

  constructor(
    readonly app: AppProcess,
    readonly queuePath: string,
    readonly mode: LockMode,
    readonly label: string,
    /** undefined: it may join behind however many, or never waits. */
    readonly maxWaiting: number | undefined,
  ) {}

  get name(): string {
    return `${this.label} (${this.mode}, maxWaiting ${this.maxWaiting})`;
  }

  /** Whether it waits, holds, or has not been told that it does not hold any more. */
  get isUnderWay(): boolean {
    return !this.isSettled || this.grant?.isOver === false;
  }

  /** Whether it stands in the way of others as far as its caller knows: it has neither given up nor given back. */
  get keepsItsPlace(): boolean {
    return this.grant === undefined ? !this.isSettled : !this.grant.isOver;
  }
}

/** How many of these, in this order, one of this mode would have to wait for; those that hold together are one. Written a second time. */
export function countAhead(ahead: readonly Counted[], mode: LockMode): number {
  const counted = new Set<string>();
  let holding = 0;
  let waiting = 0;
  for (const [index, one] of ahead.entries()) {
    // An upgrade has two nodes with one id.
    if (compatible(one.mode, mode) || counted.has(one.id)) continue;
    counted.add(one.id);
    if (ahead.slice(0, index).every((other) => compatible(other.mode, one.mode))) holding += 1;
    else waiting += 1;
  }
  return waiting + Math.min(holding, 1);
}
