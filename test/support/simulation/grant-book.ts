import type { LockHandle, MultiLockHandle } from '../../../lib/lock/handle.js';
import type { AppProcess } from './app-process.js';
import { FirstInLine } from './first-in-line.js';
import { Grant, type Ways } from './grants.js';
import { HandOvers } from './hand-overs.js';
import type { Judge } from './judge.js';
import { LockDelays } from './lock-delays.js';
import { compatible, mayWrite, readName } from './queue-rules.js';
import type { Scenario } from './scenario.js';
import { Surgery } from './surgery.js';
import { type Entry, type Removal, Truth, type TruthListener } from './truth.js';

const MOST_RECENT = 3;
/** An operator's deletion of a held node is noticed within a second. */
const OPERATOR_NOTICED_MS = 1_000;

/** Everybody who was given a lock, compared with each other and with what the servers have committed, all the time. */
export class GrantBook implements TruthListener {
  readonly #scenario: Scenario;
  readonly #now: () => number;
  readonly #judge: Judge;
  readonly #truth: Truth;
  readonly #noteOutsideCall: () => void;
  readonly firstInLine: FirstInLine;
  readonly surgery: Surgery;
  readonly lockDelays: LockDelays;
  readonly #live = new Set<Grant>();
  readonly #known = new Map<string, Grant>();
  readonly #lost: Grant[] = [];
  readonly #lastTokens = new Map<string, Grant>();
  readonly #excusedSessions = new Set<bigint>();
  readonly #excusedIds = new Set<string>();
  /** Those that had contenders when the servers ended them. */
  readonly #endedSessions = new Set<bigint>();
  readonly #handOvers: HandOvers;

  constructor(scenario: Scenario, now: () => number, judge: Judge, noteOutsideCall: () => void) {
    this.#scenario = scenario;
    this.#now = now;
    this.#judge = judge;
    this.#noteOutsideCall = noteOutsideCall;
    this.#truth = new Truth(now, this);
    this.#handOvers = new HandOvers(judge, this.#truth);
    this.firstInLine = new FirstInLine(scenario, judge);
    this.surgery = new Surgery(scenario, now, judge, this.#truth);
    this.lockDelays = new LockDelays(scenario, now, judge);
  }

  get truth(): Truth {
    return this.#truth;
  }

  /** How many holds there were. */
  get grants(): number {
    return this.#known.size;
  }

  /** Those who hold, or held a while ago. */
  get recent(): Grant[] {
    return [...this.#live, ...[...this.#known.values()].slice(-MOST_RECENT)];
  }

  /** A process was told that it lost a lock because its node was removed, and no operator was there. */
  lostByRemoval(token: bigint | undefined): void {
    for (const grant of this.#known.values()) if (grant.token === token) this.surgery.checkUntouched(grant.path);
  }

  /** An operator removes a contender, or the intent of an upgrade: nobody can know of that in time. */
  excusePath(path: string): void {
    const { id } = readName(path.slice(path.lastIndexOf('/') + 1)) ?? {};
    if (id !== undefined) this.#excusedIds.add(id);
  }

  /** An administrator ends a session that lives. */
  excuseSession(sessionId: bigint): void {
    this.#excusedSessions.add(sessionId);
  }

  isExcused(path: string): boolean {
    const entry = this.#truth.entry(path) ?? this.#truth.removal(path)?.entry;
    return entry !== undefined && (this.#excusedIds.has(entry.id) || this.#excusedSessions.has(entry.sessionId));
  }

  /** To be called in the first line after an acquire. */
  granted(app: AppProcess, owner: string, key: string, lock: LockHandle, ways: Ways, multi?: MultiLockHandle): Grant {
    const grant = new Grant(app, owner, key, lock, multi, ways, this.#judge);
    if (!lock.isHeld()) this.#judge.blame('granted is held', `${grant.name} was not held when it was granted`);
    const known = this.#known.get(grant.path);
    // What its recover function was given is what its caller gets then.
    if (known?.lock === lock) return known;
    if (known !== undefined && known.owner !== owner) {
      this.#judge.blame(
        'one holder',
        `${grant.name} was given the lock that ${known.owner} of ${known.app.name} holds`,
      );
    }
    if (known === undefined) this.#checkNewHolder(grant);
    this.#handOvers.granted(grant, readName(grant.path.slice(grant.path.lastIndexOf('/') + 1))?.id);
    this.#known.set(grant.path, known ?? grant);
    this.#live.add(grant);
    return grant;
  }

  grantOf(path: string): Grant | undefined {
    return this.#known.get(path);
  }

  /** To be called right before the lock is given back. */
  over(grant: Grant): void {
    if (grant.isHeldNow() || this.surgery.keepsOut(grant)) {
      grant.isReleasedInOrder = true;
      grant.releasedAtMs = this.#now();
    }
    grant.isGivenBack = true;
    grant.isOver = true;
    this.#live.delete(grant);
  }

  killed(app: AppProcess): void {
    for (const grant of [...this.#live]) {
      if (grant.app !== app) continue;
      grant.isOver = true;
      this.#live.delete(grant);
    }
  }

  hasEnded(sessionId: bigint): boolean {
    return this.#endedSessions.has(sessionId);
  }

  onRemoved(removal: Removal): void {
    const { path, queuePath, sessionId } = removal.entry;
    if (removal.bySession) this.#endedSessions.add(sessionId);
    if (!this.isExcused(path)) this.firstInLine.left(removal);
    const first = this.#known.get(path);
    // Several locks are given back in order by the engine itself when one of them is lost; and where an operator took
    // away an upgrader's intent, somebody may have waited already.
    const isVanished =
      first !== undefined && !first.isReleasedInOrder && first.multi === undefined && !this.isExcused(path);
    if (isVanished) this.lockDelays.vanished(first, queuePath);
    for (const grant of this.#live) {
      // Where an operator has taken away both, nobody can know.
      if (grant.guardedBy === path && !this.isExcused(path) && grant.app.isAwake && grant.isHeldNow()) {
        this.#judge.blame('granted is held', `${grant.name} still holds, and what stood in for its node is gone`);
      }
      if (grant.path !== path) continue;
      grant.isNodeGone = true;
      this.surgery.checkRemoval(removal, grant, this.isExcused(path));
      if (this.isExcused(path) || !grant.app.isAwake) continue;
      this.#noteOutsideCall();
      const how = removal.bySession ? 'its session was ended' : 'its node was deleted';
      const wasTold = grant.signal?.aborted !== false;
      if (grant.isHeldNow()) this.#judge.blame('loss is told first', `${grant.name} still holds when ${how}`);
      else if (!wasTold) this.#judge.blame('loss is told first', `${grant.name} was not signalled before ${how}`);
    }
  }

  /** After every event: whoever runs, and looks now, must see the truth. */
  look(): void {
    if (this.#live.size === 0) return;
    for (const grant of this.#live) {
      this.#lookAtTime(grant);
      for (const other of this.#live) {
        if (other === grant) break;
        if (other.key === grant.key && other.path !== grant.path && !compatible(other.mode, grant.mode))
          this.#compare(other, grant);
      }
    }
  }

  /** At the end: what is lost stays lost. */
  lookBack(): void {
    for (const grant of this.#lost) grant.isHeldNow();
  }

  #lookAtTime(grant: Grant): void {
    const { session, isRunning } = grant.app;
    this.surgery.checkTold(grant);
    if (!grant.isPast && (session.identity !== grant.identity || this.#now() >= session.certainUntil())) {
      grant.isPast = true;
      grant.pastSinceMs = this.#now();
    }
    if (!isRunning) return;
    if (grant.isPast) {
      if (!grant.isCurious && this.#now() < grant.pastSinceMs + this.#scenario.sessionTimeoutMs) return;
      if (grant.isHeldNow())
        this.#judge.blame('no resurrection', `${grant.name} is held although its certainty has ended`);
      // Who was broken is looked at until its work has ended.
      if (!this.surgery.keepsOut(grant)) this.#retire(grant);
    } else if (grant.isNodeGone && grant.isHeldNow()) this.#checkGone(grant);
    else if (grant.app.stopsOnSuspension && session.state === 'suspended' && grant.isHeldNow()) {
      this.#judge.blame(
        'loss is told first',
        `${grant.name} is held while the link is down, and onSuspended is 'stop'`,
      );
    }
  }

  #checkGone(grant: Grant): void {
    const { path } = grant;
    if (!this.isExcused(path)) {
      this.#judge.blame('loss is told first', `${grant.name} is held and its node is gone`);
      return;
    }
    const goneAtMs = this.#truth.removal(path)!.atMs;
    if (this.#scenario.profile !== 'calm' || this.#now() <= goneAtMs + OPERATOR_NOTICED_MS) return;
    this.#judge.blame(
      'loss is told first',
      `${grant.name} does not know that an operator removed its node at ${goneAtMs}`,
    );
  }

  #compare(first: Grant, second: Grant): void {
    if (!first.isHeldNow() || !second.isHeldNow()) return;
    if (this.isExcused(first.path) || this.isExcused(second.path)) return;
    this.#judge.blame('one holder', `${first.name} (${first.mode}) and ${second.name} (${second.mode}) hold together`);
  }

  #retire(grant: Grant): void {
    this.#live.delete(grant);
    this.#lost.push(grant);
  }

  #checkNewHolder(grant: Grant): void {
    this.#checkPlace(grant);
    this.lockDelays.entered(grant);
    // Whose node was removed behind its back may come late: the store refuses it.
    if (!mayWrite(grant.mode) || this.isExcused(grant.path)) return;
    const before = this.#lastTokens.get(grant.key);
    if (before !== undefined && before.token >= grant.token) {
      this.#judge.blame(
        'tokens rise',
        `${grant.name} has token ${grant.token}, ${before.name} before it had ${before.token}`,
      );
    }
    this.#lastTokens.set(grant.key, grant);
  }

  #checkPlace(grant: Grant): void {
    const { path } = grant;
    const entry = this.#truth.entry(path);
    if (entry !== undefined) {
      this.#handOvers.checkThoseAhead(grant, entry);
      return;
    }
    const removal = this.#truth.removal(path);
    if (removal === undefined) this.#judge.blame('granted is held', `${grant.name} never had a node`);
    else if (!this.isExcused(path))
      this.#judge.blame('loss is told first', `${grant.name} was granted after its node had gone`);
    else if (removal.entry.firstSinceMs === undefined) {
      const guard = this.#handOvers.checkThoseAhead(grant, removal.entry);
      // One that was handed the lock is covered by the node of the one before it, until it is told of its own.
      if (guard !== undefined && mayExclude(guard)) grant.guardedBy = guard.path;
      // Where an operator has taken away both, nobody can know.
      else if (this.#handOvers.wasUnawareOfRemoval(grant, removal.entry)) grant.isNodeGone = true;
      else {
        this.#judge.blame('granted is held', `${grant.name} was granted although its node was removed before its turn`);
      }
    } else grant.isNodeGone = true;
  }
}

function mayExclude({ mode }: Entry): boolean {
  return mode === 'exclusive' || mode === 'write';
}
