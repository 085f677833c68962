import type { AbandonedLock } from '../../lock/abandoned.js';
import { LockLostError } from '../../lock/errors.js';
import type { LockHandle } from '../../lock/handle.js';
import type { LossReason } from '../../lock/events.js';
import { LockBrokenError } from '../../lock/intervention-errors.js';
import type { LockMode } from '../../lock/mode.js';
import { fencingToken } from '../../lock/token.js';
import type { MultiPart } from '../../session/requests.js';
import { detached, type OwnedHold } from '../bounds/owner-context.js';
import type { Member } from '../collections.js';
import type { Contender, Leaving, LockRequest } from '../contender.js';
import { OwnNode } from '../own-node.js';
import type { ChangesAfterLook } from '../record-entry.js';
import type { PendingTimer } from '../timers.js';
import { doubtOf, lossOf, orderlyRelease, removeNodes, type WhyLost } from './ending.js';
import { type Footing, HeldLock } from './held-lock.js';
import { Acquired, type FactsOfHold, factsOfHold, type HoldParts, Released } from './hold-parts.js';
import { RecordWrites } from './recovery.js';
import { leaseholder, Leases, type RemainingWatch } from './time-left.js';
import { UpgradeTurns } from './upgrade.js';

type State =
  | { readonly name: 'held' }
  | { readonly name: 'lost'; readonly reason: LossReason; readonly error: LockLostError }
  | { readonly name: 'released' };

/** One lock that is held, with the state that all handles on it share. Nobody else decides whether the lock is lost. */
export class Hold implements Member, Footing, OwnedHold {
  setIndex = -1;
  /** Set and cancelled by `Holders`. */
  watchTimer: PendingTimer | undefined;
  /** The early warnings that handles have asked for. */
  warnings: Set<RemainingWatch> | undefined;
  readonly token: bigint;
  readonly heldSince: number;
  /** The listeners that hear of the loss or the release. */
  #listeners: Set<(error: () => LockLostError) => void> | undefined;
  #state: State = { name: 'held' };
  #mode: LockMode;
  /** The node that keeps readers out after an upgrade. */
  #intent: OwnNode | undefined;
  #handles = 0;
  #controller: AbortController | undefined;
  #recordWrites: RecordWrites | undefined;
  #upgrades: UpgradeTurns | undefined;
  #tokenText: string | undefined;
  /** Undefined for most locks, which have no end of their own. */
  #leases: Leases | undefined;

  constructor(
    private readonly parts: HoldParts,
    readonly contender: Contender,
  ) {
    contender.node.onGone(() => this.#gone());
    this.token = fencingToken(contender.czxid);
    this.heldSince = parts.session.clock.now();
    this.#mode = this.request.mode;
    parts.holders.add(this);
    const { leaseMs } = this.request.options;
    if (leaseMs !== undefined) this.lease(this, leaseMs);
    if (parts.events.observed) parts.events.tell(new Acquired(this, parts.scope));
    const { abandoned } = contender;
    if (abandoned !== undefined) parts.events.next({ ...this.facts(), type: 'abandoned', abandoned });
    // An operator may have removed the node, or broken the lock, before this hold listened to it.
    if (contender.node.isGone) this.lose('removed');
    contender.node.onBroken((breaking) => this.lose(breaking));
  }

  /** The token as text; undefined for a lock of this process alone, which has none. */
  get tokenText(): string | undefined {
    if (this.parts.scope === 'fleet') this.#tokenText ??= String(this.token);
    return this.#tokenText;
  }

  get request(): LockRequest {
    return this.contender.request;
  }

  get mode(): LockMode {
    return this.#mode;
  }

  /** Says who acquired the lock, and how long ago, as a clause. */
  get acquiredBy(): string {
    const { label } = this.request.options;
    return `acquired${label === undefined ? '' : ` by ${label}`} ${Math.round(this.ageMs)} ms ago`;
  }

  get ageMs(): number {
    return this.parts.session.clock.now() - this.heldSince;
  }

  /** How long the call waited for the lock. */
  get waitedMs(): number {
    return Math.round(this.heldSince - this.request.askedAt);
  }

  get isLost(): boolean {
    return this.#state.name === 'lost';
  }

  get lossReason(): LossReason | undefined {
    return this.#state.name === 'lost' ? this.#state.reason : undefined;
  }

  get lostHold(): Hold | undefined {
    return this.isLost ? this : undefined;
  }

  /** The writes into the record of the key, which most holds never make. */
  get recordWrites(): RecordWrites {
    return (this.#recordWrites ??= new RecordWrites(this.parts, this));
  }

  /** The upgrades of its handles, which most holds never ask for. */
  get upgrades(): UpgradeTurns {
    return (this.#upgrades ??= new UpgradeTurns());
  }

  get abandoned(): AbandonedLock | undefined {
    return this.contender.abandoned;
  }

  /** Whether somebody has broken the lock, and the work under it goes on, to put right what is half done. */
  get isBroken(): boolean {
    return this.parts.brokenHolds.has(this);
  }

  get isReleased(): boolean {
    return this.#state.name === 'released';
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (!this.isHeld() && this.#state.name === 'lost') this.#controller.abort(this.#state.error);
    }
    return this.#controller.signal;
  }

  /** Whether the lock is held by the clock of this moment. After the first `false` the answer stays `false`. */
  isHeld(): boolean {
    if (this.#state.name !== 'held') return false;
    // A blocked event loop delays the timers that announce a loss, so each caller that asks looks at the clock.
    const doubt = doubtOf(this.parts.session, this, this.#leases?.earliest);
    if (doubt !== undefined) this.lose(doubt);
    return doubt === undefined;
  }

  /** The error that says why the lock is not held; undefined while it is. */
  lossError(): LockLostError | undefined {
    if (this.isHeld()) return undefined;
    return this.#state.name === 'lost' ? this.#state.error : this.#releasedError();
  }

  remainingMs(): number {
    if (!this.isHeld()) return 0;
    const { session } = this.parts;
    return Math.min(session.certainUntil(), this.#leases?.earliest ?? Infinity) - session.clock.now();
  }

  /** @returns how to stop listening */
  onLost(listener: (error: LockLostError) => void): () => void {
    return this.onEnd((error) => {
      if (this.isLost) listener(error());
    });
  }

  /** Calls back on a loss as `onLost` does, and also when the lock is released. The error is made for those who ask for it. */
  onEnd(listener: (error: () => LockLostError) => void): () => void {
    const state = this.#state;
    if (state.name === 'lost') listener(() => state.error);
    else (this.#listeners ??= new Set()).add(listener);
    return () => void this.#listeners?.delete(listener);
  }

  /** Makes another handle on the same hold. */
  newHandle(): LockHandle {
    this.#handles += 1;
    return new HeldLock(this.parts, this);
  }

  /** Must be called when a lock that was acquired together with this one is lost, with the error of that loss. */
  loseWithSiblings(cause: LockLostError): void {
    // A second handle belongs to a caller that knows nothing of the other locks, and keeps its own.
    if (this.#handles === 1) this.lose('sibling-lost', cause instanceof LockBrokenError);
  }

  /** Must be called before a call releases the lock that it did not hand out, as it did not get the others. */
  unused(): void {
    // Another handle has told its caller what the contender found.
    if (this.#handles === 1) this.contender.record?.unused();
  }

  /** The last handle that is removed releases the lock. Resolves when the node is gone, or when waiting for that makes no sense. */
  removeHandle(handle: LockHandle): Promise<void> {
    this.#handles -= 1;
    this.#leases?.delete(handle);
    if (this.#handles === 0 && this.isBroken) return this.endBroken('departed');
    if (this.#handles > 0 || !this.isHeld()) return Promise.resolve();
    const { history, past, events, scope } = this.parts;
    const heldMs = this.ageMs;
    this.#end({ name: 'released' });
    for (const listener of [...(this.#listeners ?? [])]) listener(() => this.#releasedError());
    history.record(this.request.key, heldMs);
    past?.ended(this, heldMs);
    if (events.observed) events.tell(new Released(this, scope, Math.round(heldMs)));
    return this.#removeNodes('departed', orderlyRelease(this.parts, this));
  }

  /** Sets the lease of a handle, or of the call that acquired the lock, which the hold itself stands for. */
  lease(owner: Hold | LockHandle, leaseMs: number): void {
    if (this.#state.name !== 'held') return;
    this.#leases ??= new Leases(this.parts.timers, () => this.lose('lease-ended'));
    this.#leases.set(owner, this.parts.session.clock.now() + leaseMs);
    this.endsSooner();
  }

  /** Must be called when the end of the lock may be nearer than it was. */
  endsSooner(): void {
    for (const warning of this.warnings ?? []) warning.look();
  }

  /** Extends the lease of the handle or, if the handle has none, that of the call which acquired the lock. */
  extend(handle: LockHandle, leaseMs: number): void {
    this.lease(leaseholder(this.#leases, [handle, this], this.request.key), leaseMs);
  }

  /** Must be called when an upgrade is complete. From then on its intent is one of the hold's nodes. */
  upgraded(intentPath: string): void {
    this.#mode = 'write';
    this.#intent = new OwnNode(this.parts.session, intentPath, this.contender.session);
    this.#intent.onGone(() => this.#gone());
    this.watchOwn();
  }

  #gone(): void {
    this.lose('removed');
    void this.endBroken('lost');
  }

  /** Watches the hold's nodes for removal by others. Called again after a reconnect, it sets only the watches that are missing. */
  watchOwn(): void {
    this.contender.node.keepWatched();
    this.#intent?.keepWatched();
  }

  /** The facts that every event about this hold has. */
  facts(): FactsOfHold {
    return factsOfHold(this, this.parts.scope);
  }

  /** The work under a lock that was broken has ended, or its node is gone, so the node keeps nobody out any more. */
  endBroken(leaving: Leaving): Promise<void> {
    if (!this.parts.brokenHolds.delete(this)) return Promise.resolve();
    return this.#removeNodes(leaving, leaving === 'departed' ? orderlyRelease(this.parts, this) : []);
  }

  /**
   * Ends the hold, tells everybody who listens, then removes the node.
   * @param isPutRight whether the node keeps others out until the work under the lock has ended
   */
  lose(why: WhyLost, isPutRight = typeof why === 'object'): void {
    if (this.#state.name !== 'held') return;
    const { past, events, brokenHolds } = this.parts;
    const loss = lossOf(this.parts, this, why);
    const { error } = loss;
    this.#end({ name: 'lost', reason: loss.reason, error });
    // Without a handle nobody has begun to work.
    const stays = isPutRight && this.#handles > 0;
    if (stays) brokenHolds.add(this);
    // The loss may be found in a call of a stranger, who has locks of its own that these listeners must not see.
    detached(() => {
      this.#controller?.abort(error);
      for (const listener of [...(this.#listeners ?? [])]) listener(() => error);
    });
    past?.ended(this, loss.heldMs);
    events.next({ ...this.facts(), type: 'lost', waitedMs: this.waitedMs, ...loss });
    // The session may live on, and its node would block the key.
    const undo = this.#mode === 'upgradeable' ? this.contender.record?.undo() : undefined;
    if (!stays) void this.#removeNodes('lost', undo ?? []);
    else if (this.isBroken) this.watchOwn();
  }

  #removeNodes(leaving: Leaving, also: readonly MultiPart[] | ChangesAfterLook): Promise<void> {
    return removeNodes(this.parts, { contender: this.contender, intent: this.#intent }, leaving, also);
  }

  #end(state: State): void {
    this.#state = state;
    this.#leases?.clear();
    for (const warning of this.warnings ?? []) warning.stop();
    this.parts.holders.delete(this);
  }

  #releasedError(): LockLostError {
    return new LockLostError(`The lock ${this.request.key} has been released`, this.request.key);
  }
}
