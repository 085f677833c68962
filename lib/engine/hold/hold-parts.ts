import type { LockScope } from '../../lock/handle.js';
import type { Session } from '../../session/session.js';
import type { CallScope, CallScopes } from '../bounds/call-scope.js';
import type { Contender } from '../contender.js';
import type { LockEvents } from '../bounds/lock-events.js';
import type { Timers } from '../timers.js';
import type { Holders } from '../upkeep/holders.js';
import type { Janitor } from '../upkeep/janitor.js';
import type { ListsBehindWrites } from '../upkeep/list-behind-writes.js';
import type { LinkState } from '../upkeep/link-state.js';
import type { HoldHistory } from './hold-history.js';
import type { Hold } from './hold.js';

/** What a lock that is held needs of its lock service. */
export interface HoldParts {
  readonly session: Session;
  readonly link: LinkState;
  readonly timers: Timers;
  readonly janitor: Janitor;
  readonly lists: ListsBehindWrites;
  readonly scopes: CallScopes;
  readonly holders: Holders<Hold>;
  readonly history: HoldHistory;
  readonly events: LockEvents;
  readonly rules: UpgradeRules;
  /** 'process': its locks have no token. */
  readonly scope: LockScope;
  readonly waitMs: number;
}

/** What may keep an upgrade from its end, besides the readers that are inside. */
export interface UpgradeRules {
  /** Whether nobody of this process that is in another queue keeps the writer out; asked in the turn in which it begins. */
  isOpenToWriter(hold: Hold): boolean;
  /** Resolves when that may have changed. */
  whenOpen(key: string, scope: CallScope): Promise<void>;
  /** Waits for what a writer waits for before it enters, and sees to what is to be done when it leaves. */
  passAsWriter(hold: Hold, scope: CallScope): Promise<void>;
  /** What the contender has left that is to be undone with the removal of its intent; undefined: nothing. */
  takeBackOf(contender: Contender): Contender['lockDelay']['onGiveUp'];
}
