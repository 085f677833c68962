import type { AbandonedPolicy } from '../../lock/abandoned.js';
import type { AcquireOptions } from '../../lock/acquire-options.js';
import { refuse } from '../../lock/option-rules.js';
import { fencingToken } from '../../lock/token.js';
import {
  decideByRecord,
  encodeRecord,
  isEmptyRecord,
  type KeptOut,
  type KeyRecord,
  type Newcomer,
  parseRecord,
  type RecordedHolder,
  toldOf,
  type Vanished,
} from '../../queue/key-record.js';
import type { QueueNode } from '../../queue/node-name.js';
import { isAboutTheLink, SessionError } from '../../session/errors.js';
import { check, get, type GetRequest, multi, type NodeData, type Outcome, set } from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { Contender, LockRequest } from '../contender.js';
import { describeKeptOut, refusal, vanishedInside } from '../error-texts.js';
import { RecordEntry } from '../record-entry.js';
import type { Timers } from '../timers.js';
import type { Patience } from '../wait.js';
import { RecentRuns, VanishedHolders } from './earlier-tries.js';

export interface KeyRecordsParts {
  readonly session: Session;
  readonly timers: Timers;
  /** How holders describe themselves. */
  readonly machine: { readonly host: string; readonly pid: number };
  /** 0 means that there is no lock-delay. */
  readonly lockDelayMs: number;
}

/**
 * What must outlive the contenders of a key: who is inside, so that the next one is told if it vanishes; when the last run began. The
 * deletion of a node does not say whether its holder vanished or released the lock, so a holder that may write leaves its name in the
 * data of the key's node, and takes it back in the transaction that releases the lock. Calls that use none of it do not read it either,
 * unless a list of the queue shows that others do.
 */
export class KeyRecords {
  readonly #parts: KeyRecordsParts;
  readonly #vanished: VanishedHolders;
  readonly #runs: RecentRuns;

  constructor(parts: KeyRecordsParts) {
    this.#parts = parts;
    this.#vanished = new VanishedHolders(parts.session.clock);
    this.#runs = new RecentRuns(parts.session.clock);
  }

  /** Whether a call writes into the record of its key. */
  isUsedBy({ atLeastMs, onAbandoned }: AcquireOptions): boolean {
    return atLeastMs !== undefined || onAbandoned !== undefined || this.#parts.lockDelayMs > 0;
  }

  /** @throws LockConfigurationError */
  checkOptions({ onAbandoned }: AcquireOptions, key: string): void {
    if (onAbandoned === 'delay' && this.#parts.lockDelayMs === 0)
      refuse("onAbandoned: 'delay' waits for the module's lockDelayMs, and there is none", key);
  }

  /**
   * Lets a contender pass that nobody is ahead of any more, and writes its name into the record if it is to enter as a writer.
   * @returns 'passed'; undefined when it must look again; 'kept out' to one that only tries
   * @throws LockAbandonedError
   */
  async pass(
    contender: Contender,
    writes: boolean,
    scope: CallScope,
    patience: Patience,
  ): Promise<'passed' | 'kept out' | undefined> {
    const { key, queuePath } = contender.request;
    const [read] = await scope.guard(this.#parts.session.batch([get(queuePath)]));
    if (read instanceof SessionError) {
      throwRefusal(read, key);
      if (patience === 'tries') throw refusal(read, key);
      return undefined;
    }
    const record = parseRecord(read.data);
    if (isEmptyRecord(record)) contender.plainDataSince = read.stat.mzxid;
    const verdict = decideByRecord(record, read.stat.mtime, this.#newcomer(contender, read));
    switch (verdict.kind) {
      case 'closed':
        throw vanishedInside(key, verdict.vanished, verdict.because);
      case 'delayed':
        if (patience === 'tries' && !this.#isDelayOver(queuePath, verdict)) {
          contender.keptOutBy = verdict;
          return 'kept out';
        }
        if (patience === 'waits') {
          scope.standsBehind(() => describeKeptOut(verdict));
          await this.#sleep(verdict.forMs, scope);
        }
        contender.waitedFor = verdict.holder.name;
        // A reader leaves no name of its own, so it says for the next one that the delay is over.
        return writes ? undefined : this.#change(contender, read, withoutDelay(record), scope);
      case 'clock set back':
        return this.#change(contender, read, withLastRun(record, verdict.lastRun), scope);
      case 'busy':
        if (patience === 'tries') {
          this.#runs.isBusy(queuePath, read.stat.mzxid, contender.request.askedAt + verdict.forMs);
          contender.keptOutBy = verdict;
          return 'kept out';
        }
        scope.standsBehind(() => describeKeptOut(verdict));
        await this.#sleep(verdict.forMs - contender.sinceServerMs(this.#parts.session.clock.now()), scope);
        await this.#readServerClock(contender, scope);
        return undefined;
      case 'enters': {
        const isInside = record.inside?.name === contender.name;
        if (isInside) contender.record?.began(read.stat);
        else if (!(await this.#writeDown(contender, writes, { read, record, vanished: verdict.vanished }, scope)))
          return undefined;
        // An entry whose answer was lost stands where the one before it stood, of which only this contender knows now.
        const vanished = (isInside ? contender.record?.vanished : undefined) ?? verdict.vanished;
        contender.abandoned ??= vanished && toldOf(vanished);
        return 'passed';
      }
    }
  }

  /**
   * What keeps out a call that only tries, and finds nobody in the queue.
   * @throws LockAbandonedError
   */
  keepsOut(request: LockRequest, parent: Outcome<GetRequest>, queue: readonly QueueNode[]): KeptOut | undefined {
    const { key, queuePath } = request;
    if (parent instanceof SessionError) throwRefusal(parent, key);
    if (parent instanceof SessionError) return undefined;
    const forMs = this.#runs.busyForMs(queuePath, parent.stat.mzxid);
    if (forMs > 0) return { kind: 'busy', forMs };
    const record = parseRecord(parent.data);
    const { inside } = record;
    if (inside === undefined) this.#vanished.forget(queuePath);
    // The record was read before the list, so a holder that is named in it and is not in the list has vanished.
    if (inside === undefined || queue.some(({ name }) => name === inside.name)) return undefined;
    // Whether the last run began long enough ago is for the servers' clock to say, which shows when a node is made.
    const anyTime = {
      name: '',
      waitedFor: undefined,
      serverMs: Infinity,
      isClockNewer: false,
      ...this.#wishes(request),
    };
    const verdict = decideByRecord(record, parent.stat.mtime, anyTime);
    if (verdict.kind === 'closed') throw vanishedInside(key, verdict.vanished, verdict.because);
    if (verdict.kind !== 'delayed') return undefined;
    this.#vanished.sawGone(queuePath, verdict.holder.name);
    return this.#isDelayOver(queuePath, verdict) ? undefined : verdict;
  }

  #newcomer(contender: Contender, { stat }: NodeData): Newcomer {
    const { name, waitedFor, serverMs, request } = contender;
    const isClockNewer = contender.isServerMsAfter(stat.mzxid);
    return { name, waitedFor, serverMs, isClockNewer, ...this.#wishes(request) };
  }

  #wishes({ options }: LockRequest): Pick<Newcomer, 'policy' | 'canRecover' | 'delayMs'> {
    const policy = this.#policyOf(options);
    return {
      policy,
      canRecover: options.recover !== undefined,
      delayMs: policy === 'delay' ? this.#parts.lockDelayMs : 0,
    };
  }

  #policyOf({ onAbandoned }: AcquireOptions): AbandonedPolicy | undefined {
    return onAbandoned ?? (this.#parts.lockDelayMs > 0 ? 'delay' : undefined);
  }

  #isDelayOver(queuePath: string, { holder, forMs }: Extract<KeptOut, { kind: 'delayed' }>): boolean {
    return this.#vanished.ageMs(queuePath, holder.name) >= forMs;
  }

  /** @returns false when the contender must look again */
  async #writeDown(
    contender: Contender,
    writes: boolean,
    { read, record, vanished }: ReadRecord,
    scope: CallScope,
  ): Promise<boolean> {
    const { session } = this.#parts;
    const { request, path } = contender;
    const { key, queuePath, usesRecord, options } = request;
    // Who finds a name there takes its place, whether it asked for anything or not: it is the one that was told.
    if (!writes || !session.hasMultis || (!usesRecord && record.inside === undefined)) return true;
    const isRecoveryOwed = vanished !== undefined && options.recover !== undefined;
    const entry = new RecordEntry(queuePath, read, this.#inside(contender), { vanished, isRecoveryOwed });
    contender.record = entry;
    const written = multi([check(path), set(queuePath, entry.data, read.stat.version)]);
    const [answer] = await scope.guard(session.batch([written]));
    if (answer instanceof SessionError) {
      if (!isAboutTheLink(answer)) contender.record = undefined;
      throwRefusal(answer, key);
      return false;
    }
    const last = answer.at(-1)!;
    if (last.op === 'set') entry.began(last.stat);
    return true;
  }

  #inside({ name, czxid, ctime, request: { options } }: Contender): RecordedHolder {
    const { lockDelayMs, machine } = this.#parts;
    const policy = this.#policyOf(options) ?? 'enter';
    const delayMs = policy === 'delay' ? lockDelayMs : undefined;
    const { label, atLeastMs: busyMs } = options;
    return { name, token: fencingToken(czxid), since: ctime, ...machine, label, policy, delayMs, busyMs };
  }

  /** Changes the record without entering. @returns undefined: the queue may have changed meanwhile, and is looked at again */
  async #change({ request }: Contender, read: NodeData, record: KeyRecord, scope: CallScope): Promise<undefined> {
    const { key, queuePath } = request;
    const changed = set(queuePath, encodeRecord(record), read.stat.version);
    const [outcome] = await scope.guard(this.#parts.session.batch([changed]));
    if (outcome instanceof SessionError) throwRefusal(outcome, key);
    return undefined;
  }

  /** Writes the contender's own data once more: the answer shows what time it is at the servers. */
  async #readServerClock(contender: Contender, scope: CallScope): Promise<void> {
    const { session } = this.#parts;
    const { path } = contender;
    const [own] = await scope.guard(session.batch([get(path)]));
    if (own instanceof SessionError) return;
    const [written] = await scope.guard(session.batch([set(path, own.data, own.stat.version)]));
    if (!(written instanceof SessionError)) contender.sawServerClock(written, session.clock.now());
  }

  async #sleep(durationMs: number, scope: CallScope): Promise<void> {
    const passed = new Promise<void>((resolve) => {
      const timer = this.#parts.timers.set(this.#parts.session.clock.now() + durationMs, resolve);
      scope.onDispose(() => timer.cancel());
    });
    await scope.guard(passed);
  }
}

interface ReadRecord {
  readonly read: NodeData;
  readonly record: KeyRecord;
  readonly vanished: Vanished | undefined;
}

function withoutDelay({ inside, ...rest }: KeyRecord): KeyRecord {
  return { ...rest, inside: inside && { ...inside, isDelayOver: true } };
}

function withLastRun(record: KeyRecord, lastRun: NonNullable<KeyRecord['lastRun']>): KeyRecord {
  const { inside } = record;
  // The time of a holder that vanished is its own, and comes first.
  return { ...record, inside: inside && { ...inside, beganAt: lastRun.at }, lastRun };
}

function throwRefusal(refused: SessionError, key: string): void {
  // Where the node was removed or changed meanwhile, the next look tells.
  if (isAboutTheLink(refused) || refused.code === 'NO_NODE' || refused.code === 'BAD_VERSION') return;
  throw refusal(refused, key);
}
