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
import { isAboutTheLink, SessionError } from '../../session/errors.js';
import { check, get, multi, type NodeData, set } from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import type { CallScope } from '../bounds/call-scope.js';
import type { Contender } from '../contender.js';
import { refusal, throwRefusal, vanishedInside } from '../error-texts.js';
import { RecordEntry } from '../record-entry.js';
import type { Patience } from '../wait.js';
import type { EarlierTries } from './earlier-tries.js';
import type { RecordWishes } from './record-wishes.js';
import type { TimedWaits } from './timed-waits.js';

export interface KeyRecordsParts {
  readonly session: Session;
  readonly wishes: RecordWishes;
  readonly tries: EarlierTries;
  readonly waits: TimedWaits;
  /** How holders describe themselves. */
  readonly machine: { readonly host: string; readonly pid: number };
}

/** The record of a key as a contender has read it, and whom it finds there. */
interface Look {
  readonly read: NodeData;
  readonly record: KeyRecord;
  readonly vanished: Vanished | undefined;
}

/**
 * What must outlive the contenders of a key: who is inside, so that the next one is told if it vanishes; when the last run began. The
 * deletion of a node does not say whether its holder vanished or released the lock, so a holder that may write leaves its name in the
 * data of the key's node, and takes it back in the transaction that releases the lock. Calls that use none of it do not read it either,
 * unless a list of the queue shows that others do.
 */
export class KeyRecords {
  constructor(private readonly parts: KeyRecordsParts) {}

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
    const { session, tries, waits } = this.parts;
    const { key, queuePath } = contender.request;
    const [read] = await scope.guard(session.batch([get(queuePath)]));
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
        if (patience === 'tries' && !tries.isDelayOver(queuePath, verdict)) return keepOut(contender, verdict);
        if (patience === 'waits') await waits.whenOver(verdict, contender, scope);
        contender.waitedFor = verdict.holder.name;
        // A reader leaves no name of its own, so it says for the next one that the delay is over.
        return writes ? undefined : this.#change(contender, read, withoutDelay(record), scope);
      case 'clock set back':
        return this.#change(contender, read, withLastRun(record, verdict.lastRun), scope);
      case 'busy':
        if (patience === 'tries') {
          tries.sawBusy(contender.request, read.stat.mzxid, verdict.forMs);
          return keepOut(contender, verdict);
        }
        await waits.whenOver(verdict, contender, scope);
        return undefined;
      case 'enters': {
        const { vanished } = verdict;
        const isInside = record.inside?.name === contender.name;
        if (isInside) contender.record?.began(read.stat);
        else if (writes && !(await this.#writeDown(contender, { read, record, vanished }, scope))) return undefined;
        // An entry whose answer was lost stands where the one before it stood, of which only this contender knows now.
        const told = (isInside ? contender.record?.vanished : undefined) ?? vanished;
        contender.abandoned ??= told && toldOf(told);
        return 'passed';
      }
    }
  }

  #newcomer(contender: Contender, { stat }: NodeData): Newcomer {
    const { name, waitedFor, serverMs, request } = contender;
    const isClockNewer = contender.isServerMsAfter(stat.mzxid);
    return { name, waitedFor, serverMs, isClockNewer, ...this.parts.wishes.of(request.options) };
  }

  /** @returns false when the contender must look again */
  async #writeDown(contender: Contender, { read, record, vanished }: Look, scope: CallScope): Promise<boolean> {
    const { session } = this.parts;
    const { request, path } = contender;
    const { key, queuePath, usesRecord, options } = request;
    // Who finds a name there takes its place, whether it asked for anything or not: it is the one that was told.
    if (!session.hasMultis || (!usesRecord && record.inside === undefined)) return true;
    const isRecoveryOwed = vanished !== undefined && options.recover !== undefined;
    const entry = new RecordEntry(queuePath, read, this.#inside(contender), { vanished, isRecoveryOwed });
    const before = contender.record;
    contender.record = entry;
    const written = multi([check(path), set(queuePath, entry.data, read.stat.version)]);
    const [answer] = await scope.guard(session.batch([written]));
    if (answer instanceof SessionError) {
      // An entry before this one, whose answer was lost, may be what this one was refused for: the next look at the record tells.
      if (!isAboutTheLink(answer)) contender.record = before;
      throwRefusal(answer, key);
      return false;
    }
    const last = answer.at(-1)!;
    if (last.op === 'set') entry.began(last.stat);
    return true;
  }

  #inside({ name, czxid, ctime, request: { options } }: Contender): RecordedHolder {
    const { wishes, machine } = this.parts;
    const { label, atLeastMs: busyMs } = options;
    return { name, token: fencingToken(czxid), since: ctime, ...machine, label, busyMs, ...wishes.left(options) };
  }

  /** Changes the record without entering. @returns undefined: the queue may have changed meanwhile, and is looked at again */
  async #change({ request }: Contender, read: NodeData, record: KeyRecord, scope: CallScope): Promise<undefined> {
    const { key, queuePath } = request;
    const changed = set(queuePath, encodeRecord(record), read.stat.version);
    const [outcome] = await scope.guard(this.parts.session.batch([changed]));
    if (outcome instanceof SessionError) throwRefusal(outcome, key);
    return undefined;
  }
}

function withoutDelay({ inside, ...rest }: KeyRecord): KeyRecord {
  return { ...rest, inside: inside && { ...inside, isDelayOver: true } };
}

function withLastRun(record: KeyRecord, lastRun: NonNullable<KeyRecord['lastRun']>): KeyRecord {
  const { inside } = record;
  // The time of a holder that vanished is its own, and comes first.
  return { ...record, inside: inside && { ...inside, beganAt: lastRun.at }, lastRun };
}

function keepOut(contender: Contender, keptOut: KeptOut): 'kept out' {
  contender.keptOutBy = keptOut;
  return 'kept out';
}
