import type { LockScope } from '../../lock/handle.js';
import type { LockMode } from '../../lock/mode.js';
import type { Session } from '../../session/session.js';
import { WithJson } from '../../lock/json.js';
import { factsOf, type FactsOfRequest } from '../contender.js';
import type { CallScope, CallScopes } from '../bounds/call-scope.js';
import type { LockEvents } from '../bounds/owner-context.js';
import { RecentMap } from '../collections.js';
import type { Timers } from '../timers.js';
import type { Janitor } from '../upkeep/janitor.js';
import type { ListsBehindWrites } from '../upkeep/key-nodes.js';
import type { LinkState } from '../upkeep/link-state.js';
import type { BrokenHolds } from './ending.js';
import type { Hold } from './hold.js';
import type { Holders } from './holders.js';

/** The parts of a lock service that a held lock needs. */
export interface HoldParts {
  /** The name of the lock service on its channels. */
  readonly connection: string;
  readonly session: Session;
  readonly link: LinkState;
  readonly timers: Timers;
  readonly janitor: Janitor;
  readonly lists: ListsBehindWrites;
  readonly scopes: CallScopes;
  readonly holders: Holders;
  readonly brokenHolds: BrokenHolds;
  readonly history: HoldHistory;
  /** Undefined where no history is kept. */
  readonly past: PastHolds | undefined;
  readonly events: LockEvents;
  readonly rules: UpgradeRules;
  /** Locks with the scope 'process' have no fencing token. */
  readonly scope: LockScope;
  readonly waitMs: number;
}

/** The facts that every event about a hold has. */
export type FactsOfHold = FactsOfRequest & { readonly token: bigint | undefined };

export function factsOfHold({ request, mode, token }: Hold, scope: LockScope): FactsOfHold {
  const { key, label, template, owner } = factsOf(request);
  // Members are named one by one, as to spread an object takes longer than to make one.
  return { key, mode, label, template, owner, token: scope === 'fleet' ? token : undefined };
}

/** An event about a hold. Each lock has two of them, so they are classes, which take the least time to make. */
abstract class EventOfHold extends WithJson implements FactsOfHold {
  readonly key: string;
  readonly mode: LockMode;
  readonly label: string | undefined;
  readonly template: string | undefined;
  readonly owner: string;
  readonly token: bigint | undefined;
  readonly waitedMs: number;

  constructor({ request, mode, token, waitedMs }: Hold, scope: LockScope) {
    super();
    const { key, owner, options } = request;
    this.key = key;
    this.mode = mode;
    this.label = options.label;
    this.template = options.template;
    this.owner = owner;
    this.token = scope === 'fleet' ? token : undefined;
    this.waitedMs = waitedMs;
  }
}

export class Acquired extends EventOfHold {
  readonly type = 'acquired';
}

export class Released extends EventOfHold {
  readonly type = 'released';

  constructor(
    hold: Hold,
    scope: LockScope,
    readonly heldMs: number,
  ) {
    super(hold, scope);
  }
}

/** Writes down the holds that have ended. */
export interface PastHolds {
  ended(hold: Hold, heldMs: number): void;
}

/** Holds in the other queue of this process (the fleet's or the local one) that exclude contenders of this one. */
export interface ExclusionRules {
  /** A hold that excludes a contender of this mode, in this turn of the event loop. `own` is not in its own way. */
  inTheWay(contender: { readonly key: string; readonly mode: LockMode }, own?: Hold): Hold | undefined;
  /** Resolves when the hold has ended, or the link has changed: then the caller looks again. */
  whenEnded(hold: Hold, scope: CallScope): Promise<void>;
}

/** The rules of the application's policies that an upgrade must keep, besides waiting for the readers inside. */
export interface UpgradeRules extends ExclusionRules {
  /** Waits as any writer does before it enters, and writes what a writer writes into the record of the key. */
  passAsWriter(hold: Hold, scope: CallScope): Promise<void>;
}

/** How many keys are remembered. The ones used least recently are dropped. */
const MAX_KEYS = 1_000;
/** The weight of the newest hold. */
const WEIGHT = 0.3;

/** The smoothed length of this process's last holds of each key. Waits are estimated from it. */
export class HoldHistory {
  readonly #averages = new RecentMap<string, number>(MAX_KEYS);

  record(key: string, heldMs: number): void {
    const before = this.averageMs(key);
    this.#averages.set(key, before === undefined ? heldMs : before + WEIGHT * (heldMs - before));
  }

  averageMs(key: string): number | undefined {
    return this.#averages.get(key);
  }
}
