import { decodeContender } from '../../../lib/queue/node-data.js';
import type { Transaction } from '../../../lib/session/simulator/tree/transaction.js';
import type { GrantBook } from './grant-book.js';
import type { Judge } from './judge.js';
import { readName } from './queue-rules.js';
import type { RareState } from './rare-states.js';
import type { RecordedHold } from './recorded-holds.js';

const BAD_VERSION = -103;
/** What the operator of the harness writes down when it clears a record. */
export const CLEARED_BY = 'clearedBy';

/** Somebody who stands in a record, as far as the checkers look into it. */
interface Written {
  readonly inside: string | undefined;
  readonly abandoned: string | undefined;
  readonly isCleared: boolean;
}

/** What is told of the records that are committed. */
interface Listener {
  /** An operator has cleared the record. */
  cleared(queuePath: string, zxid: bigint): void;
  /** Somebody whose node is gone has taken its name out. */
  tookItselfOut(queuePath: string, zxid: bigint): void;
}

interface Run {
  readonly hold: RecordedHold;
  readonly beganAt: number;
  readonly atLeastMs: number;
}

/** The records as the servers have committed them, and when those who stand in them began. */
export class RecordTruth {
  /** By the token: the path of the contender, and the label of its call. */
  readonly #paths = new Map<bigint, string>();
  readonly #labels = new Map<bigint, string>();
  readonly #queuePaths = new Set<string>();
  readonly #inside = new Map<string, string>();
  /** When a contender was first written down as being inside, by the servers' wall clock, and how often its link had changed by then. */
  readonly #began = new Map<string, { readonly at: number; readonly links: number }>();
  readonly #runs = new Map<string, Run[]>();
  readonly #entered = new Map<string, RecordedHold>();
  /** Whom the entry of a contender names beside itself, by their paths. */
  readonly #abandonedBy = new Map<string, string | undefined>();
  /** Those that have taken themselves out, and in which transaction. */
  readonly #outSince = new Map<string, bigint>();

  constructor(
    private readonly book: GrantBook,
    private readonly judge: Judge,
    private readonly time: { now(): number; wallNow(): number },
    private readonly linksOf: (sessionId: bigint) => number,
    private readonly listener: Listener,
    private readonly faults: { created(path: string): void; writtenDown(sessionId: bigint): void },
    private readonly reached: (state: RareState) => void,
  ) {}

  pathOf(token: bigint): string | undefined {
    return this.#paths.get(token);
  }

  labelOf(token: bigint): string | undefined {
    return this.#labels.get(token);
  }

  /** Whether the node has gone with its session, or an operator has removed it. */
  isRemovedByOthers(path: string): boolean {
    const removal = this.book.truth.removal(path);
    return removal !== undefined && (removal.bySession || this.book.isExcused(path));
  }

  outSince(path: string): bigint | undefined {
    return this.#outSince.get(path);
  }

  /** The holder that a writer's entry names as the one it is to recover, or has been told of. */
  abandonedBy(path: string): bigint | undefined {
    const abandoned = this.#abandonedBy.get(path);
    if (abandoned === undefined) return undefined;
    return (this.book.truth.entry(abandoned) ?? this.book.truth.removal(abandoned)?.entry)?.czxid;
  }

  wasRemovedByOthers(token: bigint): boolean {
    const path = this.#paths.get(token);
    return path !== undefined && this.isRemovedByOthers(path);
  }

  /** A lock that is broken goes on keeping others out, and the end of the work under it is an orderly release. */
  endOfBroken({ app, token, path, isHandedOut }: RecordedHold): 'released' | 'lost' | 'unknown' {
    if (!this.book.surgery.isPutRight({ app, token })) return 'lost';
    const grant = this.book.grantOf(path);
    // The engine gives back by itself what no caller has been given.
    if (grant === undefined || !isHandedOut) return 'unknown';
    // Where its node was removed before, it takes its name out of the record when it hears of that, if nobody has entered.
    if (!grant.isReleasedInOrder) return grant.isGivenBack ? 'unknown' : 'lost';
    // The end of the service, or of the session, ends it as lost, and may have come first.
    return app.isClosing || app.session.identity !== grant.identity ? 'unknown' : 'released';
  }

  wasBroken(hold: RecordedHold): boolean {
    return this.book.surgery.isPutRight(hold);
  }

  /** Whether a run that is over keeps the key busy. */
  isBusyAfterwards(key: string): boolean {
    const runs = this.#runs.get(key) ?? [];
    const now = this.time.wallNow();
    return runs.some(({ hold, beganAt, atLeastMs }) => hold.ended !== undefined && beganAt + atLeastMs > now);
  }

  /** A contender has entered: nobody who asked for a time of its own may have begun too short a time ago. */
  entered(hold: RecordedHold): void {
    const { key, path, name, call } = hold;
    this.#entered.set(path, hold);
    const began = this.#began.get(path);
    for (const run of this.#runs.get(key) ?? []) {
      if (this.#hasFailedBeforeWork(run.hold)) continue;
      const sinceMs = (began?.at ?? this.time.wallNow()) - run.beganAt;
      const text = `${name} began ${sinceMs} ms after ${run.hold.name}, which was to have ${run.atLeastMs} ms`;
      if (sinceMs < run.atLeastMs) this.judge.blame('once per occurrence', text);
      this.#reachedAfter(run, hold);
    }
    const entry = this.book.truth.entry(path);
    if (began !== undefined && entry !== undefined && this.linksOf(entry.sessionId) !== began.links)
      this.reached('an entry write lost its answer and was found again');
    const atLeastMs = call?.wish.atLeastMs;
    if (atLeastMs === undefined) return;
    if (began === undefined) this.judge.blame('once per occurrence', `${name} entered, and nothing says when`);
    else this.#runs.set(key, [...(this.#runs.get(key) ?? []), { hold, beganAt: began.at, atLeastMs }]);
  }

  /** Whether its call failed before its work began: the next one is to recover, and to do the work. */
  #hasFailedBeforeWork(hold: RecordedHold): boolean {
    if (hold.call?.recovery === undefined || hold.isHandedOut) return false;
    // Where the lock was broken, the call fails although its recovery has ended well.
    return hold.call.recovery.state === 'failed' || (hold.call.recovery.state === 'ran' && this.wasBroken(hold));
  }

  #reachedAfter(run: Run, { path, call }: RecordedHold): void {
    const entry = this.book.truth.entry(path);
    const wallToWorld = this.time.wallNow() - this.time.now();
    if (entry?.firstSinceMs === undefined || entry.firstSinceMs + wallToWorld >= run.beganAt + run.atLeastMs) return;
    if (run.hold.ended === 'lost') this.reached('a window outlived its holder');
    if (call === undefined) this.reached('one that asks for nothing was kept out by the window');
  }

  /** Must be told before the queues are. */
  committed({ zxid, wallMs, changes, partErrors }: Transaction): void {
    if (partErrors?.length === 2 && partErrors[1] === BAD_VERSION)
      this.reached('the record was changed between read and write');
    const removed = changes.flatMap((change) => (change.op === 'delete' ? [change.path] : []));
    for (const change of changes) {
      if (change.op === 'create') this.#created(zxid, change.path, change.data);
      if (change.op !== 'set' || !this.#queuePaths.has(change.path)) continue;
      const written = readRecord(change.data);
      if (written.isCleared) this.listener.cleared(change.path, zxid);
      else this.#replaces(change.path, written.inside, zxid, removed);
      this.#written(change.path, written, wallMs);
    }
  }

  #created(zxid: bigint, path: string, data: Uint8Array): void {
    const contender = readName(path.slice(path.lastIndexOf('/') + 1));
    if (contender === undefined) return;
    this.#queuePaths.add(path.slice(0, path.lastIndexOf('/')));
    this.#paths.set(zxid, path);
    const label = decodeContender(data)?.label;
    if (label !== undefined) this.#labels.set(zxid, label);
    if (contender.usesRecord) this.faults.created(path);
  }

  #written(queuePath: string, { inside, abandoned }: Written, wallMs: number): void {
    if (inside === undefined) return void this.#inside.delete(queuePath);
    const path = `${queuePath}/${inside}`;
    if (this.#inside.get(queuePath) !== inside) {
      this.#inside.set(queuePath, inside);
      this.#outSince.delete(path);
      this.#abandonedBy.set(path, abandoned && `${queuePath}/${abandoned}`);
    }
    const sessionId = this.book.truth.entry(path)?.sessionId;
    if (sessionId !== undefined) this.faults.writtenDown(sessionId);
    if (this.#began.has(path)) return;
    if (sessionId === undefined)
      return this.judge.blame('recovered once', `${path} was written down as being inside after its node had gone`);
    this.#began.set(path, { at: wallMs, links: this.linksOf(sessionId) });
  }

  #replaces(queuePath: string, inside: string | undefined, zxid: bigint, removed: readonly string[]): void {
    const before = this.#inside.get(queuePath);
    if (before === undefined || before === inside) return;
    const path = `${queuePath}/${before}`;
    const hold = this.#entered.get(path);
    const isEntry = inside !== undefined && this.book.truth.entry(`${queuePath}/${inside}`) !== undefined;
    if (!isEntry && !removed.includes(path)) {
      this.#outSince.set(path, zxid);
      this.listener.tookItselfOut(queuePath, zxid);
    }
    if (hold === undefined && removed.includes(path)) this.reached('one that gave up put the record back');
    if (hold?.ended === 'released' && inside === undefined && removed.length === 0)
      this.reached('a release whose session had ended cleared the record alone');
  }
}

function readRecord(data: Uint8Array): Written {
  if (data.length === 0) return { inside: undefined, abandoned: undefined, isCleared: false };
  const value = JSON.parse(Buffer.from(data).toString()) as Partial<Record<string, { readonly name: string }>>;
  return { inside: value['inside']?.name, abandoned: value['abandoned']?.name, isCleared: CLEARED_BY in value };
}
