import type { Clock } from '../../lock/clock.js';
import { encodeRecord, type HolderRecord, parseRecord } from '../../queue/node-data.js';
import type { QueueNode } from '../../queue/node-name.js';
import { isAboutTheLink, SessionError } from '../../session/errors.js';
import {
  get,
  type GetRequest,
  multi,
  type MultiPart,
  type NodeData,
  type Outcome,
  set,
  type Stat,
} from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import type { CallScope } from '../bounds/call-scope.js';
import { RecentMap } from '../collections.js';
import type { Contender, LockRequest } from '../contender.js';
import { refusal } from '../error-texts.js';
import type { Timers } from '../timers.js';
import type { Patience } from '../wait.js';

const NOTHING: readonly MultiPart[] = [];
const NO_DATA = new Uint8Array(0);

/**
 * Makes the next contender wait before it enters, after a holder that vanished. This is for stores that cannot check tokens. The
 * deletion of a node does not say whether its holder vanished or released the lock, so a holder that may write leaves its name
 * in the data of the key's node, and removes it in the transaction that releases the lock.
 */
export class LockDelay {
  readonly #vanished: VanishedHolders;

  constructor(
    private readonly session: Session,
    private readonly timers: Timers,
    private readonly lockDelayMs: number,
  ) {
    this.#vanished = new VanishedHolders(session.clock);
  }

  /**
   * @param writes whether the contender enters as a writer
   * @returns what belongs into the transaction that releases the lock; undefined when the contender must look again; 'held
   * back' to one that only tries, until the delay is over
   */
  async pass(
    contender: Contender,
    writes: boolean,
    scope: CallScope,
    patience: Patience,
  ): Promise<readonly MultiPart[] | 'kept out' | undefined> {
    const { queuePath, key } = contender.request;
    const own: HolderRecord = { nodeName: contender.name, lockDelayMs: this.lockDelayMs };
    const sent = this.session.batch(writes ? [get(queuePath), set(queuePath, encodeRecord(own))] : [get(queuePath)]);
    if (writes) contender.lockDelay.onGiveUp = sent.then((outcomes) => this.#undo(contender, outcomes));
    const [read, written] = await scope.guard(sent);
    throwRefusal(read, key);
    throwRefusal(written, key);
    if (read instanceof SessionError) {
      if (patience === 'tries') throw refusal(read, key);
      // This contender's name may stand there now, over one that it has not seen. It waits as if there had been one.
      scope.standsBehind();
      await this.#sleep(this.lockDelayMs, scope);
      return undefined;
    }
    const before = predecessorIn(read, contender);
    if (before !== undefined) {
      if (patience === 'tries') {
        if (!this.#isOver(queuePath, before)) return 'kept out';
      } else {
        scope.standsBehind();
        if (writes) await this.#putBack(contender, scope);
        await this.#sleep(Math.max(before.lockDelayMs, this.lockDelayMs), scope);
      }
      contender.lockDelay.waitedFor = before.nodeName;
      if (!writes) {
        const [cleared] = await scope.guard(this.session.batch([set(queuePath, NO_DATA, read.stat.version)]));
        throwRefusal(cleared, key);
      }
      // The queue may have changed meanwhile, so it is looked at again.
      return undefined;
    }
    if (written instanceof SessionError) return undefined;
    return writes ? clearing(queuePath) : NOTHING;
  }

  /** Whether the delay after a holder that is not in the queue any more still keeps out a call that only tries. */
  keepsOut({ key, queuePath }: LockRequest, parent: Outcome<GetRequest>, queue: readonly QueueNode[]): boolean {
    throwRefusal(parent, key);
    if (parent instanceof SessionError) return false;
    const record = parseRecord(parent.data);
    if (record === undefined) this.#vanished.forget(queuePath);
    if (record === undefined || queue.some(({ name }) => name === record.nodeName)) return false;
    this.#vanished.sawGone(queuePath, record.nodeName);
    return !this.#isOver(queuePath, record);
  }

  #isOver(queuePath: string, record: HolderRecord): boolean {
    return this.#vanished.ageMs(queuePath, record.nodeName) >= Math.max(record.lockDelayMs, this.lockDelayMs);
  }

  /**
   * What removes the name of a contender that never held from the record. It names the version that this contender wrote, so
   * whatever came later stays. Where nobody knows what stood there before, the name stays, and the next contender waits.
   */
  #undo(contender: Contender, [read, written]: readonly (NodeData | Stat | SessionError)[]): readonly MultiPart[] {
    const { queuePath } = contender.request;
    if (read instanceof SessionError) return NOTHING;
    const { stat } = read as NodeData;
    const version = written instanceof SessionError ? stat.version + 1 : (written as Stat).version;
    const before = predecessorIn(read as NodeData, contender);
    if (before === undefined) return [set(queuePath, NO_DATA, version)];
    // The longer delay is kept, so that the next contender need not know of both.
    const lockDelayMs = Math.max(before.lockDelayMs, this.lockDelayMs);
    return [set(queuePath, encodeRecord({ ...before, lockDelayMs }), version)];
  }

  /** Puts the name of the vanished holder back into the record. */
  async #putBack({ lockDelay }: Contender, scope: CallScope): Promise<void> {
    // A contender that waits has not held: if it vanishes as well, the delay must be that of the holder before it.
    const outcomes = await scope.guard(this.session.batch([multi((await lockDelay.onGiveUp)!)]));
    if (!outcomes.some((outcome) => outcome instanceof SessionError)) delete lockDelay.onGiveUp;
  }

  async #sleep(durationMs: number, scope: CallScope): Promise<void> {
    const passed = new Promise<void>((resolve) => {
      const timer = this.timers.set(this.session.clock.now() + durationMs, resolve);
      scope.onDispose(() => timer.cancel());
    });
    await scope.guard(passed);
  }
}

/** What an orderly release does to the record, besides removing the node. */
export function clearing(queuePath: string): readonly MultiPart[] {
  return [set(queuePath, NO_DATA)];
}

/** The holder that vanished, and that this contender has still to wait for. */
function predecessorIn({ data }: NodeData, { name, lockDelay }: Contender): HolderRecord | undefined {
  const record = parseRecord(data);
  return record?.nodeName === name || record?.nodeName === lockDelay.waitedFor ? undefined : record;
}

function throwRefusal(outcome: unknown, key: string): void {
  if (!(outcome instanceof SessionError) || isAboutTheLink(outcome)) return;
  // Where the node was removed or changed meanwhile, the next look tells.
  if (outcome.code !== 'NO_NODE' && outcome.code !== 'BAD_VERSION') throw refusal(outcome, key);
}

/** So many keys are remembered; the delay of a key that was forgotten counts from anew. */
const MAX_KNOWN = 10_000;

/**
 * Remembers when this process first saw that a holder had vanished. A call that only tries does not stay in the queue until the
 * lock-delay is over, so earlier tries count. The time is that of this process's monotonic clock, as the servers' clocks may jump.
 */
export class VanishedHolders {
  readonly #first = new RecentMap<string, { readonly nodeName: string; readonly at: number }>(MAX_KNOWN);

  constructor(private readonly clock: Clock) {}

  /** Only the first time counts. `nodeName` must be known to be gone: it never comes back. */
  sawGone(queuePath: string, nodeName: string): void {
    if (this.#first.get(queuePath)?.nodeName === nodeName) return;
    this.#first.set(queuePath, { nodeName, at: this.clock.now() });
  }

  /** @returns for how long it has been known that this holder vanished; 0 when it is not known */
  ageMs(queuePath: string, nodeName: string): number {
    const first = this.#first.get(queuePath);
    return first?.nodeName === nodeName ? this.clock.now() - first.at : 0;
  }

  forget(queuePath: string): void {
    this.#first.delete(queuePath);
  }
}
