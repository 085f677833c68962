import type { QueueNode } from '../../queue/node-name.js';
import type { GetRequest, MultiPart, Outcome } from '../../session/requests.js';
import type { EntryRules } from '../acquire/obstacles.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { Contender, LockRequest } from '../contender.js';
import type { UpgradeRules } from '../hold/hold-parts.js';
import type { Hold } from '../hold/hold.js';
import type { LinkState } from '../upkeep/link-state.js';
import type { Patience } from '../wait.js';
import type { LocalExclusion } from './local-locks.js';
import { clearing, type LockDelay } from './lock-delay.js';

/** The rules that an application may ask for, and that keep out a contender whose turn has come. Both are off by default. */
export class Entry implements EntryRules, UpgradeRules {
  readonly #link: LinkState;
  readonly #lockDelay: LockDelay | undefined;
  readonly #exclusion: LocalExclusion | undefined;

  constructor(link: LinkState, lockDelay: LockDelay | undefined, exclusion: LocalExclusion | undefined) {
    this.#link = link;
    this.#lockDelay = lockDelay;
    this.#exclusion = exclusion;
  }

  get takesTime(): boolean {
    return this.#lockDelay !== undefined;
  }

  get readsKeyNode(): boolean {
    return this.#lockDelay !== undefined;
  }

  isOpen({ key, mode }: LockRequest): boolean {
    return this.#exclusion === undefined || this.#exclusion.isOpen(key, mode);
  }

  isOpenToWriter(hold: Hold): boolean {
    return this.#exclusion === undefined || this.#exclusion.isOpen(hold.request.key, 'write', hold);
  }

  /** The hold of this process that keeps a request out, though the two are in different queues. */
  insideElsewhere({ key, mode }: LockRequest): Hold | undefined {
    return this.#exclusion?.inTheWay(key, mode);
  }

  async whenOpen(key: string, scope: CallScope): Promise<void> {
    await this.#exclusion?.whenOpen(key, this.#link, scope);
  }

  /** Is called when a hold has begun. */
  entered(hold: Hold): void {
    this.#exclusion?.enter(hold);
  }

  async pass(
    contender: Contender,
    scope: CallScope,
    patience: Patience,
  ): Promise<readonly MultiPart[] | 'kept out' | undefined> {
    const { mode } = contender.request;
    return this.#lockDelay?.pass(contender, mode === 'exclusive' || mode === 'write', scope, patience) ?? [];
  }

  keepsOut(request: LockRequest, parent: Outcome<GetRequest>, queue: readonly QueueNode[]): boolean {
    return this.#lockDelay?.keepsOut(request, parent, queue) ?? false;
  }

  async passAsWriter(hold: Hold, scope: CallScope): Promise<void> {
    if (this.#lockDelay === undefined) return;
    // From here on its name may stand in the record, also if the upgrade fails.
    hold.releasesWith(clearing(hold.request.queuePath));
    for (;;) {
      await this.#link.whenUp(scope);
      if ((await this.#lockDelay.pass(hold.contender, true, scope, 'waits')) !== undefined) return;
    }
  }

  takeBackOf({ lockDelay }: Contender): Promise<readonly MultiPart[]> | undefined {
    const { onGiveUp } = lockDelay;
    delete lockDelay.onGiveUp;
    return onGiveUp;
  }
}
