import type { AcquireMessage } from '../../lock/channels.js';
import { LockConfigurationError, LockUnavailableError } from '../../lock/errors.js';
import type { Refusal } from '../../queue/decide.js';
import { namesReader } from '../../queue/intent-data.js';
import { traceparentOf } from '../../queue/node-data.js';
import type { QueueNode } from '../../queue/node-name.js';
import { certaintyMarginMs } from '../../session/certainty.js';
import { isAboutAccess, SessionError } from '../../session/errors.js';
import { get } from '../../session/requests.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { Contender, LockRequest } from '../contender.js';
import { describeKeptOut, describeRefusedHeartbeat } from '../error-texts.js';
import type { Hold } from '../hold/hold.js';
import type { PendingTimer, Timers } from '../timers.js';
import { noteWaitsFor } from '../traces.js';
import { Latch, type Patience } from '../wait.js';
import { enqueue, type EnqueuedContender, type EnqueueParts } from './enqueue.js';
import type { KeyQueue } from './key-queue.js';
import {
  Busy,
  busyNow,
  type EntryRules,
  explainRefusal,
  type HolderInFront,
  type QueueBound,
  refuseWhileDrained,
} from './obstacles.js';
import type { QueueMember, Turn } from './queue-member.js';

export interface AcquireParts extends EnqueueParts {
  readonly timers: Timers;
  readonly rules: EntryRules;
  readonly bound: QueueBound;
  readonly holderInFront: HolderInFront;
  readonly beginHold: (contender: Contender) => Hold;
}

/** How a contender's way ends without a hold. */
type End = 'busy' | 'removed' | 'session ended' | 'lost at once';

type Outcome = Hold | Busy | Exclude<End, 'busy'>;

const WHY_AGAIN = { removed: 'removed', 'session ended': 'session-ended', 'lost at once': 'lost' } as const;

/** The way of a call to its hold: it enqueues a contender, waits for its turn, and enters. What ends it early leaves nothing behind. */
export class Acquire {
  readonly #parts: AcquireParts;

  constructor(parts: AcquireParts) {
    this.#parts = parts;
  }

  acquire(request: LockRequest, scope: CallScope): Promise<Hold> {
    const { bound } = this.#parts;
    if (!bound.limits(request)) return this.#wait(request, scope);
    return bound.joinWithin(request, scope, () => this.#wait(request, scope));
  }

  /** Acquires the lock only if nobody is in the way: a strong read first, so that a busy key costs no write. */
  async tryAcquire(request: LockRequest, scope: CallScope): Promise<Hold | Busy> {
    const { session, link } = this.#parts;
    // While the first connection is only being made, ZooKeeper is not away yet.
    if (session.state === 'connecting') await link.whenUp(scope);
    if (!link.isUp) {
      const text = `The lock ${request.key} cannot be tried: there is no connection to ZooKeeper`;
      throw new LockUnavailableError(text, request.key);
    }
    return (await busyNow(this.#parts, request, scope)) ?? this.#untilHeld(request, scope, 'tries');
  }

  #wait(request: LockRequest, scope: CallScope): Promise<Hold> {
    // A call that waits never ends as busy.
    return this.#untilHeld(request, scope, 'waits') as Promise<Hold>;
  }

  async #untilHeld(request: LockRequest, scope: CallScope, patience: Patience): Promise<Hold | Busy> {
    for (;;) {
      const enqueued = await enqueue(this.#parts, request, scope, patience === 'tries' ? 'lists' : undefined);
      const entered = this.#join(enqueued, scope, patience);
      // Most contenders enter as soon as they are in the queue, and wait for no turn of promises more.
      const end = entered instanceof Promise ? await entered : entered;
      if (typeof end === 'object') return end;
      if (scope.error !== undefined) throw scope.error;
      if (patience === 'tries') {
        if (end !== 'session ended') return this.tryAcquire(request, scope);
        throw new LockUnavailableError(`The session ended while the lock ${request.key} was being tried`, request.key);
      }
      if (end === 'removed') await refuseWhileDrained(this.#parts, request, scope);
      // A node may have gone with its session, whose end is known only now.
      const isSessionOver = this.#parts.session.identity !== enqueued.contender.session;
      this.#parts.onRequeued(request, isSessionOver ? 'session-ended' : WHY_AGAIN[end]);
    }
  }

  /** The contender joins those of its process, and enters when its turn comes. If it never does, it leaves. */
  #join(
    { contender, listed, creation }: EnqueuedContender,
    scope: CallScope,
    patience: Patience,
  ): Outcome | Promise<Outcome> {
    const { session, janitor, keyQueues, holderInFront, rules } = this.#parts;
    const { request } = contender;
    if (session.identity !== contender.session) {
      creation.end();
      void janitor.remove([contender.path]);
      return 'session ended';
    }
    const queue = keyQueues.of(request);
    const member: QueueMember = queue.join(
      contender,
      {
        tryEnter: () => (rules.readsRecord(request, queue) ? undefined : this.#enter(contender, scope)),
        placed: (place) => scope.placed(place),
        standsBehind: (first) => {
          scope.standsBehind(() => {
            noteWaitsFor(request.trace, () => holderInFront.traceparent(queue, request.queuePath));
            return holderInFront.describe(queue, request.queuePath, request.owner);
          });
          if (first !== undefined) noteWaitsFor(request.trace, () => first.contender.request.trace?.traceparent);
        },
        waitsFor: (data) => noteWaitsFor(request.trace, () => traceparentOf(data)),
        explain: (reason: Refusal) => explainRefusal(reason, request),
      },
      listed,
    );
    creation.end();
    scope.joined(member);
    const { hold } = member;
    return hold === undefined || hold.isLost ? this.#enterOrLeave(member, queue, scope, patience) : hold;
  }

  async #enterOrLeave(member: QueueMember, queue: KeyQueue, scope: CallScope, patience: Patience): Promise<Outcome> {
    const { session, janitor, holderInFront } = this.#parts;
    const { contender } = member;
    const { request } = contender;
    let readsHead: PendingTimer | undefined;
    let end: Hold | End | undefined;
    try {
      let turn = member.told();
      if (turn === undefined && patience === 'tries') end = 'busy';
      for (; end === undefined; turn = undefined) {
        if (turn === undefined && readsHead === undefined) readsHead = holderInFront.lookBeforeEnd(queue, scope);
        turn ??= await scope.guard(member.turn());
        end = turn.kind === 'holds' ? began(turn.hold, scope) : await this.#onTurn(turn, contender, scope, patience);
        if (end === undefined) queue.lookAgain(member);
      }
      if (typeof end === 'object') tellHandOver(request.trace, queue, session.clock.now());
      if (end === 'busy') {
        const { keptOutBy } = contender;
        if (keptOutBy !== undefined) return new Busy(describeKeptOut(keptOutBy));
        return new Busy(holderInFront.describeBlocking(request, queue.members.inFrontOf(member)));
      }
      return end;
    } finally {
      readsHead?.cancel();
      // A lock that was lost has left its queue, and its node is being removed.
      if (typeof end !== 'object' && end !== 'lost at once')
        void janitor.remove([contender.path], contender.record?.undo(), contender.leave('departed'));
    }
  }

  /** @returns undefined when the queue must be looked at again */
  async #onTurn(
    turn: Exclude<Turn, { kind: 'holds' }>,
    contender: Contender,
    scope: CallScope,
    patience: Patience,
  ): Promise<Hold | End | undefined> {
    switch (turn.kind) {
      case 'removed':
      case 'session ended':
        return turn.kind;
      case 'first if named':
        if (patience === 'tries') return 'busy';
        if (!(await this.#isNamed(contender, turn.intents, scope))) return undefined;
        return this.#enterWhenCertain(contender, scope, patience);
      case 'first':
        return this.#enterWhenCertain(contender, scope, patience);
    }
  }

  /** No other contender is in this one's way any more. It enters once its session is proved to live and nothing else keeps it out. */
  async #enterWhenCertain(
    contender: Contender,
    scope: CallScope,
    patience: Patience,
  ): Promise<Hold | 'busy' | undefined> {
    const { rules, keyQueues } = this.#parts;
    const inside = rules.inTheWay(contender.request);
    if (inside !== undefined) {
      if (patience === 'tries') return 'busy';
      await rules.whenEnded(inside, scope);
      return undefined;
    }
    if (!(await this.#proveCertain(contender, scope))) return undefined;
    const queue = keyQueues.find(contender.request.queuePath);
    if (!rules.readsRecord(contender.request, queue)) return this.#enter(contender, scope);
    const passed = await rules.pass(contender, scope, patience);
    if (contender.plainDataSince !== undefined) queue?.known.sawPlainData(contender.plainDataSince);
    if (passed === 'kept out') return 'busy';
    if (passed === undefined || !(await this.#proveCertain(contender, scope))) return undefined;
    return this.#enter(contender, scope);
  }

  #enter(contender: Contender, scope: CallScope): Hold | undefined {
    // All of this is one turn of the event loop, so what is true here is true when the hold begins.
    if (scope.error !== undefined || contender.node.isGone || !this.#isCertain(contender)) return undefined;
    if (this.#parts.rules.inTheWay(contender.request) !== undefined) return undefined;
    scope.succeed();
    return this.#parts.beginHold(contender);
  }

  /** Whether the session is proved to live, with enough time left to be of use. */
  #isCertain({ session: own }: Contender): boolean {
    const { session, link } = this.#parts;
    // The last answer may have come together with the end of the connection, so certainty does not count while the link is down.
    if (!link.isUp || session.identity !== own) return false;
    return session.certainUntil() - session.clock.now() > neededMs(own);
  }

  /**
   * Proves that the session lives, with a write if need be.
   * @returns false when the queue must be looked at again
   */
  async #proveCertain(contender: Contender, scope: CallScope): Promise<boolean> {
    const { session } = this.#parts;
    const { key } = contender.request;
    if (this.#isCertain(contender)) return true;
    if (session.identity !== contender.session) return false;
    try {
      await scope.guard(session.proveLife(neededMs(contender.session)));
      return this.#isCertain(contender);
    } catch (error) {
      if (!(error instanceof SessionError)) throw error;
      // Other refusals pass: servers are slow or short of something, or somebody removes the node that is written to.
      if (!isAboutAccess(error)) return false;
      const text = `The lock ${key} cannot be held: ${describeRefusedHeartbeat(error)}`;
      throw new LockConfigurationError(text, key, { cause: error });
    }
  }

  /** Whether all upgraders ahead, which turn their locks into writing ones, know of this reader: only then may it still enter. */
  async #isNamed(contender: Contender, intents: readonly QueueNode[], scope: CallScope): Promise<boolean> {
    const { session, link } = this.#parts;
    const changed = new Latch();
    const watcher = { onWatchEvent: (): void => changed.open() };
    const paths = intents.map(({ name }) => `${contender.request.queuePath}/${name}`);
    const stopListening = link.onChange('contenders', () => changed.open());
    try {
      const outcomes = await scope.guard(session.batch(paths.map((path) => get(path, watcher))));
      if (outcomes.some((outcome) => outcome instanceof SessionError)) return false;
      const isNamed = outcomes.every(
        (outcome) => !(outcome instanceof SessionError) && namesReader(outcome.data, contender.name),
      );
      if (!isNamed) await scope.guard(changed.opened());
      return isNamed;
    } finally {
      stopListening();
      for (const path of paths) session.unwatch(path, watcher);
    }
  }
}

/** A call that did not wait was not handed the lock by anybody. */
function tellHandOver(trace: AcquireMessage | undefined, queue: KeyQueue, now: number): void {
  if (trace === undefined) return;
  if (trace.ahead! > 0) trace.handOverMs = queue.sinceGoneMs(now);
}

function began(hold: Hold, scope: CallScope): Hold | 'lost at once' {
  if (!hold.isLost) return hold;
  // It was lost in the very turn of the event loop in which it began: the caller has not heard of it, and queues again.
  scope.goOn();
  return 'lost at once';
}

function neededMs({ timeoutMs }: Contender['session']): number {
  // The loss is signalled one margin before certainty ends. The other margin is for the write that renews it.
  return 2 * certaintyMarginMs(timeoutMs);
}
