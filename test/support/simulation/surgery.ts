import type { LossReason } from '../../../lib/lock/events.js';
import { DRAIN_MARKER } from '../../../lib/queue/intervention.js';
import type { CheckRequest, MultiRequest, Request } from '../../../lib/session/requests.js';
import type { AppProcess } from './app-process.js';
import type { Grant } from './grants.js';
import type { Judge } from './judge.js';
import { readName } from './queue-rules.js';
import type { Scenario } from './scenario.js';
import type { Removal, Truth } from './truth.js';

/** What the surgeon is about. */
export type Step =
  { readonly kind: 'break'; readonly token: bigint } | { readonly kind: 'drain'; readonly queuePath: string };

/** Who holds for longer than that is watched; then the way to the servers and back. */
const TOLD_WITHIN_MS = 1_000;

/** What a surgeon does to the queues, and whether those it concerns are told, kept in and kept out as they must be. */
export class Surgery {
  readonly #scenario: Scenario;
  readonly #now: () => number;
  readonly #judge: Judge;
  readonly #truth: Truth;
  readonly #brokenAtMs = new Map<string, number>();
  /** The nodes whose removal the surgeon has sent. */
  readonly #forced = new Set<string>();
  readonly #drained = new Set<string>();
  readonly #losses = new Map<
    bigint,
    { readonly reason: LossReason; readonly atMs: number; readonly app: AppProcess }
  >();
  #step: Step | undefined;

  constructor(scenario: Scenario, now: () => number, judge: Judge, truth: Truth) {
    this.#scenario = scenario;
    this.#now = now;
    this.#judge = judge;
    this.#truth = truth;
  }

  begins(step: Step): void {
    this.#step = step;
    if (step.kind === 'drain') this.#drained.add(step.queuePath);
  }

  ends(): void {
    this.#step = undefined;
  }

  /** Whether waiters of this queue may find that somebody has removed them. */
  hasDrained(queuePath: string): boolean {
    return this.#drained.has(queuePath);
  }

  /** @returns the contenders that it is about to remove */
  sends(requests: readonly Request[]): string[] {
    const parts = requests.flatMap((request): readonly (Exclude<Request, MultiRequest> | CheckRequest)[] =>
      request.op === 'multi' ? request.parts : [request],
    );
    const writes = parts.filter(({ op, path }) => (op === 'set' || op === 'delete') && isContender(path));
    if (this.#step?.kind === 'break') for (const { path } of writes) this.#checkTarget(path, this.#step.token);
    const removed = writes.filter(({ op }) => op === 'delete').map(({ path }) => path);
    for (const path of removed) this.#forced.add(path);
    return removed;
  }

  /** Data of a contender's node was committed. */
  written(path: string, data: Uint8Array): void {
    if (!this.#brokenAtMs.has(path) && Buffer.from(data).includes('"breaking"'))
      this.#brokenAtMs.set(path, this.#now());
  }

  lost(app: AppProcess, token: bigint | undefined, reason: LossReason): void {
    if (token !== undefined) this.#losses.set(token, { reason, atMs: this.#now(), app });
  }

  /** Whether the work under it goes on behind a node that stays: it was broken, or another one that it was acquired with. */
  isPutRight({ token, app }: Pick<Grant, 'token' | 'app'>): boolean {
    const loss = this.#losses.get(token);
    if (loss?.reason !== 'sibling-lost') return loss?.reason === 'broken';
    return [...this.#losses.values()].some(
      (other) => other.app === app && other.reason === 'broken' && other.atMs === loss.atMs,
    );
  }

  /** Whether its node keeps others out, as the servers have it. */
  keepsOut(grant: Grant): boolean {
    return this.isPutRight(grant) && this.#truth.entry(grant.path) !== undefined;
  }

  /** Where nothing else goes wrong, a holder is told of a break in time. */
  checkTold(grant: Grant): void {
    const brokenAtMs = this.#brokenAtMs.get(grant.path);
    if (brokenAtMs === undefined || this.#scenario.profile !== 'calm') return;
    if (this.#now() > brokenAtMs + TOLD_WITHIN_MS && grant.isHeldNow())
      this.#judge.blame('loss is told first', `${grant.name} does not know that it was broken at ${brokenAtMs}`);
  }

  /** The node of somebody whose work has not ended is gone. */
  checkRemoval({ entry, bySession }: Removal, grant: Grant, isExcused: boolean): void {
    if (bySession || isExcused || grant.app.isClosing || this.#forced.has(entry.path)) return;
    if (this.#losses.get(grant.token)?.reason !== 'broken') return;
    this.#judge.blame('kept out meanwhile', `${grant.name} was broken, puts right what is half done, and has no node`);
  }

  /** Somebody lost a lock because its node was removed, and no operator was there: it must not have been drained as a holder. */
  checkUntouched(path: string): void {
    const removal = this.#truth.removal(path);
    if (removal === undefined || removal.bySession || !this.#forced.has(path) || this.#brokenAtMs.has(path)) return;
    if (removal.entry.firstSinceMs !== undefined)
      this.#judge.blame('exactly that contender', `${path} held the lock, and was removed with those who waited`);
  }

  #checkTarget(path: string, token: bigint): void {
    const entry = this.#truth.entry(path);
    if (entry === undefined || entry.czxid === token) return;
    const queue = this.#truth.queue(entry.queuePath);
    if (queue.some(({ id, czxid }) => id === entry.id && czxid === token)) return;
    this.#judge.blame('exactly that contender', `${path} has the token ${entry.czxid}, and ${token} was to be broken`);
  }
}

export function drainMarker(queuePath: string): string {
  return `${queuePath}/${DRAIN_MARKER}`;
}

/** What tells a caller of a break, which counts as a loss, or of a drain, which counts as a time-out. */
export function withoutSurgery(code: string): string {
  if (code === 'LOCK_BROKEN') return 'LOCK_LOST';
  return code === 'LOCK_DRAINED' ? 'LOCK_TIMEOUT' : code;
}

function isContender(path: string): boolean {
  return readName(path.slice(path.lastIndexOf('/') + 1)) !== undefined;
}
