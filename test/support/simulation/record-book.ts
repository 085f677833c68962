import type { LockEvent } from '../../../lib/lock/events.js';
import type { AppProcess } from './app-process.js';
import type { Judge } from './judge.js';
import { mayWrite } from './queue-rules.js';
import type { RareState } from './rare-states.js';
import type { RecordCall, Told } from './record-calls.js';
import { RecordFacts } from './record-facts.js';
import { type Found, foundIn, isSame, RecordedHold, sayFound } from './recorded-holds.js';
import type { RecordTruth } from './record-truth.js';
import type { Scenario } from './scenario.js';
import { TakenOut } from './taken-out.js';

type Acquired = Extract<LockEvent, { type: 'acquired' }>;

/**
 * Who entered, and how that ended, by the events of the engines and by what the servers have committed: so who must be told of whom.
 * A writing hold that used the record and was not released in order has vanished.
 */
export class RecordBook {
  /** The last writing hold of each key that used its record. */
  readonly #last = new Map<string, RecordedHold>();
  readonly #holds = new Map<bigint, RecordedHold>();
  readonly #takenOut = new TakenOut();
  readonly #facts: RecordFacts;
  /** The one that entered in this turn: whether it was told of anything follows in the next event. */
  #entering: RecordedHold | undefined;

  constructor(
    private readonly scenario: Scenario,
    private readonly judge: Judge,
    private readonly truth: RecordTruth,
    private readonly reached: (state: RareState) => void,
  ) {
    this.#facts = new RecordFacts(judge, truth, reached);
  }

  called(call: RecordCall): void {
    this.#facts.called(call);
  }

  heard(app: AppProcess, event: LockEvent): void {
    if (event.type === 'abandoned') {
      if (event.token !== undefined && this.#entering?.token === event.token) this.#entering.told = event.abandoned;
      else this.#blame(`${app.name} was told of ${event.abandoned.label} by an event that belongs to no entry`);
    }
    this.settle();
    if (event.type === 'acquired') this.#entering = this.#entered(app, event);
    else if ((event.type === 'released' || event.type === 'lost') && event.token !== undefined) {
      const hold = this.#holds.get(event.token);
      if (hold !== undefined) hold.ended = event.type;
    }
  }

  /** Its process is gone, with whatever it held. */
  killed(app: AppProcess): void {
    this.settle();
    for (const hold of this.#holds.values()) if (hold.app === app) hold.ended ??= 'lost';
  }

  /** The operator has cleared the record of a key, in this transaction. */
  cleared(key: string, zxid: bigint): void {
    this.settle();
    this.#takenOut.add(key, { zxid, before: this.#last.get(key) });
    this.#last.delete(key);
    this.reached('a closed key was cleared');
  }

  /** Somebody who had not vanished has left the record of a key, in this transaction. */
  tookItselfOut(key: string, zxid: bigint): void {
    this.settle();
    this.#takenOut.add(key, { zxid, before: this.#last.get(key) });
  }

  /** An upgrade is under way: the lock may stand in the record although it does not become a writer's. */
  upgrades(token: bigint): void {
    const hold = this.#holds.get(token);
    if (hold !== undefined) hold.hasTriedToWrite = true;
  }

  upgraded(token: bigint, told: Told | undefined): void {
    this.settle();
    const hold = this.#holds.get(token);
    if (hold === undefined) return;
    hold.told = told;
    hold.writes = true;
    hold.isUpgraded = true;
    if (this.#takePlace(hold)) this.reached('an upgrade took its place in the record');
  }

  /** A caller has the lock: what was to be recovered must have been. */
  granted(token: bigint, told: Told | undefined): void {
    this.settle();
    const hold = this.#holds.get(token);
    if (hold === undefined) return;
    if ((told === undefined) !== (hold.told === undefined))
      this.#blame(`${hold.name} was told of ${told?.label} by its handle, and of ${hold.told?.label} by the event`);
    const recovery = hold.call?.recovery;
    if (recovery?.state === 'runs') return;
    if (recovery !== undefined && hold.told !== undefined && recovery.state !== 'ran')
      this.#blame(`${hold.name} had its lock, and its recovery had not ended well (${recovery.state})`);
    hold.isHandedOut = true;
  }

  /** A call was refused because the key is closed. */
  refused(call: RecordCall | undefined, told: Told, what: string): void {
    this.settle();
    const vanished = [told, ...(told.recoverer === undefined ? [] : [told.recoverer])];
    for (const one of vanished) {
      if (!this.#mayHaveVanished(one.token) && !this.#isStray(one.token))
        this.#blame(`${what} was refused because of ${one.label}, which has not vanished`);
    }
    const policy = this.#facts.policyFor(call, foundIn(told));
    if (policy === 'hold') this.reached('a hold stayed closed');
    else if (policy === 'recover' && call?.recovery === undefined)
      this.reached('a call that cannot recover was refused');
    else this.#blame(`${what} was refused, and the strictest policy was '${policy}'`);
  }

  callOf(token: bigint): RecordCall | undefined {
    return this.#holds.get(token)?.call;
  }

  /** Judges the one that has entered last, when it is known whether it was told of anything. */
  settle(): void {
    const hold = this.#entering;
    this.#entering = undefined;
    if (hold === undefined) return;
    const { told } = hold;
    if (told !== undefined) {
      this.reached('one that vanished was told to the next one');
      if (hold.call === undefined && this.scenario.lockDelayMs === 0)
        this.reached('a caller that asks for nothing was told');
      if (!hold.writes) this.reached('a reader was told');
      if (told.recoverer !== undefined) this.reached('a recoverer vanished as well');
    }
    if (hold.writes) this.#takePlace(hold);
    else this.#match(hold);
  }

  #entered(app: AppProcess, { key, token, mode, label }: Acquired): RecordedHold | undefined {
    if (token === undefined) return undefined;
    const call = this.#facts.callWith(label);
    const path = this.truth.pathOf(token);
    // That tokens are those of contenders is for others to check.
    if (path === undefined) return undefined;
    const hold = new RecordedHold(app, key, token, path, call, mayWrite(mode) && mode !== 'upgradeable');
    this.#holds.set(token, hold);
    this.truth.entered(hold);
    return hold;
  }

  /** @returns whether the hold stands in the record from now on */
  #takePlace(hold: RecordedHold): boolean {
    const { key, call } = hold;
    const found = this.#match(hold);
    hold.found = found;
    hold.hasTriedToWrite = true;
    const stands = found !== undefined || call !== undefined || this.scenario.lockDelayMs > 0;
    if (stands) this.#last.set(key, hold);
    else this.#last.delete(key);
    return stands;
  }

  /** Compares what a hold was told with what it may have found. */
  #match(hold: RecordedHold): Found | undefined {
    const { told, name, call } = hold;
    const last = this.#last.get(hold.key);
    if (last === hold) return hold.found;
    const possible = last === undefined ? [undefined] : last.mayLeave(this.truth);
    const takenOut = this.#takenOut.since(hold.key, hold.token);
    // One that writes nothing may have read the record before. The entry of a writer is refused then, and it reads again.
    if (!hold.writes)
      for (const { before } of takenOut) possible.push(...(before?.mayHaveLeft(this.truth) ?? [undefined]));
    // An upgraded one was told when it entered as a reader, and its entry as a writer has what stood there by then.
    const isEntryNewer = hold.isUpgraded && takenOut.length > 0;
    const found = isEntryNewer ? this.#foundByEntry(hold, possible) : told && foundIn(told);
    if (found !== undefined && found.holder !== told?.token) this.#blame(`${name} was not told of ${sayFound(found)}`);
    if (!possible.some((one) => isSame(one, found)) && !this.#isOfStray(possible, found, hold)) {
      const expected = possible.map((one) => sayFound(one)).join(', or ');
      this.#blame(`${name} was told of ${sayFound(found)}, and was to be told of ${expected}`);
    }
    if (last !== undefined) this.#reachedAfterBreak(last, found);
    if (told === undefined || found === undefined) return undefined;
    this.#reachedBy(last, found);
    for (const one of [told, ...(told.recoverer === undefined ? [] : [told.recoverer])])
      this.#facts.check(name, one, this.#holds.get(one.token)?.app.name);
    const policy = this.#facts.policyFor(call, found);
    if (policy === 'hold' || (policy === 'recover' && call?.recovery === undefined))
      this.judge.blame('recovered once', `${name} entered, and the key was closed ('${policy}') by ${sayFound(found)}`);
    return found;
  }

  /** What the entry of an upgraded lock says that it found. The entry names the holder alone, and not the one that was to recover. */
  #foundByEntry({ path }: RecordedHold, possible: readonly (Found | undefined)[]): Found | undefined {
    const holder = this.truth.abandonedBy(path);
    const known = possible.find((one) => one?.holder === holder);
    return known ?? (holder === undefined ? undefined : { holder, recoverer: undefined });
  }

  /**
   * A contender that never entered may stand there, if its session ended before it could take that back. Once it has, only one that
   * writes nothing, and may have looked before, may have found it there.
   */
  #isOfStray(possible: readonly (Found | undefined)[], found: Found | undefined, finder: RecordedHold): boolean {
    if (found === undefined) return false;
    const stillStood = (path = ''): boolean => {
      const outSince = this.truth.outSince(path);
      return outSince === undefined || (!finder.writes && finder.token < outSince);
    };
    const isStray = (token: bigint | undefined): boolean =>
      token !== undefined && this.#isStray(token) && stillStood(this.truth.pathOf(token));
    return possible.some((base) => {
      if (base !== undefined) return base.holder === found.holder && isStray(found.recoverer);
      return isStray(found.holder) && (found.recoverer === undefined || isStray(found.recoverer));
    });
  }

  #isStray(token: bigint): boolean {
    const hold = this.#holds.get(token);
    // An upgrade that was given up is a contender that never entered as a writer.
    if (hold !== undefined && (hold.writes || !hold.hasTriedToWrite)) return false;
    if (hold?.ended === 'lost') return true;
    return this.truth.wasRemovedByOthers(token);
  }

  #mayHaveVanished(token: bigint): boolean {
    const hold = this.#holds.get(token);
    return (hold !== undefined && hold.writes && hold.ended !== 'released') || this.truth.wasRemovedByOthers(token);
  }

  #reachedAfterBreak(last: RecordedHold, found: Found | undefined): void {
    if (last.ended !== 'lost' || !this.truth.wasBroken(last)) return;
    if (found !== undefined) this.reached('a holder that was broken was told to the next one');
    else if (this.truth.endOfBroken(last) === 'released')
      this.reached('a broken holder ended in order and was told to nobody');
  }

  #reachedBy(last: RecordedHold | undefined, found: Found): void {
    if (last?.ended === 'released' && last.token === (found.recoverer ?? found.holder))
      this.reached('one was told of a holder whose release came too late');
    else if (last?.ended === 'released') this.reached('a recovery failed and was left to the next one');
    if (this.#isStray(found.recoverer ?? found.holder)) this.reached('one was told of a contender that never entered');
  }

  #blame(text: string): void {
    this.judge.blame('recovered once', text);
  }
}
