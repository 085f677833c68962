import type { LockMode } from '../../lock/mode.js';
import { blocks } from '../../queue/decide.js';
import type { KeptOut } from '../../queue/key-record.js';
import type { Children, GetRequest, Outcome } from '../../session/requests.js';
import type { LockCalls, StandIn } from '../acquire/lock-calls.js';
import type { EntryRules } from '../acquire/obstacles.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { LockEvents } from '../bounds/owner-context.js';
import { type Contender, factsOf, type LockRequest } from '../contender.js';
import type { UpgradeRules } from '../hold/hold-parts.js';
import type { Hold } from '../hold/hold.js';
import type { PendingTimer, Timers } from '../timers.js';
import type { LinkState } from '../upkeep/link-state.js';
import { Latch, type Patience } from '../wait.js';
import type { EarlierTries } from './earlier-tries.js';
import type { KeyRecords } from './key-records.js';

/** The rules that an application may ask for, and that keep out a contender whose turn has come. All are off by default. */
export class Entry implements EntryRules, UpgradeRules {
  constructor(
    private readonly link: LinkState,
    private readonly records: KeyRecords,
    private readonly tries: EarlierTries,
    private readonly exclusion: LocalExclusion | undefined,
  ) {}

  readsRecord({ usesRecord }: LockRequest, queue: { readonly hasRecord: boolean } | undefined): boolean {
    return usesRecord || queue?.hasRecord === true;
  }

  inTheWay({ key, mode }: { readonly key: string; readonly mode: LockMode }, own?: Hold): Hold | undefined {
    return this.exclusion?.inTheWay(key, mode, own);
  }

  async whenEnded(hold: Hold, scope: CallScope): Promise<void> {
    scope.standsBehind();
    const changed = new Latch();
    const stopWatchingHold = hold.onEnd(() => changed.open());
    const stopWatchingLink = this.link.onChange('contenders', () => changed.open());
    try {
      await scope.guard(changed.opened());
    } finally {
      stopWatchingHold();
      stopWatchingLink();
    }
  }

  /** Must be called when a hold has begun. */
  entered(hold: Hold): void {
    this.exclusion?.enter(hold);
  }

  pass(contender: Contender, scope: CallScope, patience: Patience): Promise<'passed' | 'kept out' | undefined> {
    const { mode } = contender.request;
    contender.hasReadRecord = true;
    return this.records.pass(contender, mode === 'exclusive' || mode === 'write', scope, patience);
  }

  keepsOut(request: LockRequest, parent: Outcome<GetRequest>, listed: Children): KeptOut | undefined {
    return this.tries.keepsOut(request, parent, listed);
  }

  async passAsWriter(hold: Hold, scope: CallScope): Promise<void> {
    const { contender } = hold;
    if (!contender.hasReadRecord) return;
    for (;;) {
      await this.link.whenUp(scope);
      if ((await this.records.pass(contender, true, scope, 'waits')) !== undefined) return;
    }
  }
}

/**
 * Makes locks of the fleet and the local locks that stand in for them exclude each other, with `whenUnavailable: 'local'`. They
 * come from two queues that do not know of each other. The first contender of one queue waits here for the holders of the
 * other, and keeps its place in its own queue meanwhile.
 */
export class LocalExclusion {
  // Those that wait have no order among them: a reader that an upgrader waits for must not wait for a writer that waits for
  // the upgrader.
  readonly #inside = new Map<string, Set<Hold>>();

  /** A hold that excludes a contender of this mode. */
  inTheWay(key: string, mode: LockMode, own?: Hold): Hold | undefined {
    for (const hold of this.#inside.get(key) ?? []) if (hold !== own && blocks(hold.mode, mode)) return hold;
    return undefined;
  }

  /** The hold excludes others from now on, until it is released or lost. */
  enter(hold: Hold): void {
    const { key } = hold.request;
    const inside = this.#inside.get(key) ?? new Set();
    this.#inside.set(key, inside.add(hold));
    hold.onEnd(() => {
      inside.delete(hold);
      if (inside.size === 0 && this.#inside.get(key) === inside) this.#inside.delete(key);
    });
  }
}

/** `whenUnavailable: 'local'`: locks of this process alone, loud, while ZooKeeper is away. */
export class LocalStandIn implements StandIn {
  /** @param lockCalls of the lock service of this process alone */
  constructor(
    private readonly lockCalls: LockCalls,
    private readonly link: LinkState,
    private readonly timers: Timers,
    private readonly events: LockEvents,
  ) {}

  /** Ends a wait for ZooKeeper while there is time left for a local lock. */
  limit(scope: CallScope): void {
    const { deadline } = scope;
    let timer: PendingTimer | undefined;
    const look = (): void => {
      timer?.cancel();
      if (this.link.isUp) return;
      // Half of the time that is left is for ZooKeeper to come back. Of a session that is lost, or did not come up for as long as
      // one lasts, nothing is expected any more.
      const graceMs = this.link.state === 'lost' ? 0 : deadline.remainingMs() / 2;
      timer = this.timers.set(deadline.clock.now() + graceMs, () => scope.end(scope.timeUp()));
    };
    scope.onDispose(this.link.onChange('calls', look));
    scope.onDispose(() => timer?.cancel());
    look();
  }

  degrade(request: LockRequest): LockCalls {
    this.events.next({ ...factsOf(request), type: 'degraded' });
    return this.lockCalls;
  }
}
