import type { QueueNode } from '../../queue/node-name.js';
import type { GetRequest, MultiPart, Outcome } from '../../session/requests.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { Contender, LockRequest } from '../contender.js';

/** For who stays in the queue until its turn comes, or leaves as soon as it would have to wait. */
export type Patience = 'waits' | 'tries';

/** What a try comes to that finds the lock busy. */
export class Busy {
  /** @param holder who is in the way, as a sentence; undefined where that is not known */
  constructor(readonly holder: string | undefined) {}
}

/** What may keep out one whose turn has come: holders of this process that the queue does not know, a lock-delay. */
export interface EntryRules {
  /** Whether nothing but a wait that takes turns of the event loop keeps it out; asked in the turn in which it enters. */
  isOpen(request: LockRequest): boolean;
  /** Resolves when that may have changed. */
  whenOpen(key: string, scope: CallScope): Promise<void>;
  /** Whether something is to be found out, or waited for, before anybody enters. */
  readonly takesTime: boolean;
  /**
   * @returns what belongs into the transaction that gives the lock back; undefined when the queue must be looked at again;
   * 'held back' to one that only tries
   */
  pass(
    contender: Contender,
    scope: CallScope,
    patience: Patience,
  ): Promise<readonly MultiPart[] | 'held back' | undefined>;
  /** For a try that finds nobody in the queue: whether it would be held back. `data`: that of the key's node. */
  readonly readsKeyNode: boolean;
  holdsBack(request: LockRequest, parent: Outcome<GetRequest>, queue: readonly QueueNode[]): boolean;
}
