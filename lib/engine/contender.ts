import type { AcquireOptions } from '../lock/acquire-options.js';
import type { LockMode } from '../lock/mode.js';
import { parseNodeName, type QueueNode } from '../queue/node-name.js';
import type { MultiPart } from '../session/requests.js';
import type { SessionIdentity } from '../session/session.js';
import type { OwnNode } from './own-node.js';

/** What one call asks for. */
export interface LockRequest {
  readonly key: string;
  /** Where its contenders queue: the key under the namespace. */
  readonly queuePath: string;
  readonly mode: LockMode;
  /** The logical caller, as its contender tells. */
  readonly owner: string;
  readonly options: AcquireOptions;
  readonly askedAt: number;
}

/** How a contender leaves its queue: `lost` is also one whose lock was taken from it. */
export type Leaving = 'given back' | 'lost';

/**
 * Nodes on whose presence somebody relies for as long as a removed node stands in front of them: the removal is carried out
 * only where they are all there. Asked anew at each attempt.
 */
export interface Guard {
  paths(): readonly string[];
  /** They were there when the node was removed. */
  confirmed(paths: readonly string[]): void;
  /** Somebody has removed this one; the guarded removal has not been carried out. */
  missing(path: string): void;
}

/** How far a contender has come with the lock-delay. */
export interface LockDelayProgress {
  /** The holder that vanished, and whose delay has passed. */
  waitedFor?: string;
  /** What belongs into the transaction that removes a contender which does not get to hold. */
  onGiveUp?: Promise<readonly MultiPart[]>;
}

/** One request's place in the queue of its key: its node, and the session it lives by. */
export class Contender {
  readonly lockDelay: LockDelayProgress = {};
  /** As its queue is read. */
  readonly queueNode: QueueNode;
  #onLeave: ((leaving: Leaving) => Guard | undefined) | undefined;

  constructor(
    readonly request: LockRequest,
    /** What its name carries, and an upgrade's intent shares. */
    readonly id: string,
    readonly node: OwnNode,
    readonly czxid: bigint,
    readonly session: SessionIdentity,
  ) {
    const name = node.path.slice(node.path.lastIndexOf('/') + 1);
    const { mode } = request;
    this.queueNode = parseNodeName(name) ?? { name, mode, sequence: -1, id, ours: true };
  }

  get name(): string {
    return this.queueNode.name;
  }

  get path(): string {
    return this.node.path;
  }

  /** Its queue, which is told when it leaves: those of this process that stand behind it need not wait for the servers. */
  joined(onLeave: (leaving: Leaving) => Guard | undefined): void {
    this.#onLeave = onLeave;
  }

  /** Its node is about to be removed. @returns what the removal must be guarded with */
  leave(leaving: Leaving): Guard | undefined {
    this.node.forget();
    const onLeave = this.#onLeave;
    this.#onLeave = undefined;
    return onLeave?.(leaving);
  }
}
