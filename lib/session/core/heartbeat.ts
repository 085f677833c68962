import type { Clock, Timer } from '../../lock/clock.js';
import { isAboutTheLink, SessionError } from '../errors.js';
import { ancestry } from '../paths.js';
import { create, type Reply, type Request, set, sync } from '../requests.js';
import { sessionIdText } from '../session-id.js';
import type { Proof } from './link.js';
import type { ProofOfLife } from './proof-of-life.js';

const NO_DATA = new Uint8Array(0);
/**
 * How often a missing node is made again at once. Somebody may delete the node, and then its container may be reaped
 * between two creates; a third failure in a row is no coincidence.
 */
const MAX_REPAIRS = 3;
// How many proofs in a row may come too late for a prover before it is rejected.
const MAX_PROOFS_IN_VAIN = 5;
/** A heartbeat that a busy server put off is sent again after S divided by this, at the earliest. */
const SHORTEST_REST_PART = 20;

/** What the heartbeat needs to know about the session that is up. */
export interface LiveSession {
  readonly proof: ProofOfLife;
  /** The id that names the session's own node. */
  readonly sessionId: bigint;
}

interface Prover {
  /** How long beyond now the session must be certain. */
  readonly forMs: number;
  /** How many proofs have arrived that were not enough. */
  proofsInVain: number;
  resolve(): void;
  reject(error: SessionError): void;
}

/**
 * Keeps a session certain while something is held, with writes to a small ephemeral node of the session's own. A write
 * is due when the last committed write is a quarter of S old, and sooner when less than a quarter of S of certainty is
 * left and a write would gain some. A sync behind the write vouches for it. A session that writes anyway needs no
 * heartbeat, because each of its requests vouches for the one before; a session that holds nothing gets none.
 */
export class Heartbeat {
  readonly #clock: Clock;
  readonly #root: string;
  readonly #batch: (requests: Request[]) => Promise<(Reply | SessionError)[]>;
  readonly #provers = new Set<Prover>();
  #holders = 0;
  #live: LiveSession | undefined;
  #writtenAt = -Infinity;
  #inFlight = false;
  /** The session whose node is known to exist. */
  #nodeOf: bigint | undefined;
  #failures = 0;
  #refusal: SessionError | undefined;
  /** A write that the servers refused is not tried again before this instant. */
  #restUntil = -Infinity;
  #timer: Timer | undefined;
  /** Whether the timer is set, and early enough for a holder. */
  #looksForHolders = false;
  /** Whether the next answer of the server decides when to write. */
  #awaitsAnswer = false;

  constructor(clock: Clock, namespace: string, batch: (requests: Request[]) => Promise<(Reply | SessionError)[]>) {
    this.#clock = clock;
    this.#root = `${namespace}/.sessions`;
    this.#batch = batch;
  }

  /** The server's refusal of the last write; errors of the link do not count. */
  get refusal(): SessionError | undefined {
    return this.#refusal;
  }

  /** Whether something is held in this session. */
  get isNeeded(): boolean {
    return this.#holders > 0;
  }

  /** The link is up: proofs can be made. */
  start(live: LiveSession): void {
    this.#live = live;
    this.#failures = 0;
    this.#refusal = undefined;
    this.#restUntil = -Infinity;
    this.#look();
  }

  /** The link is down or the session is over: nothing can be proved now. */
  stop(error: SessionError): void {
    this.#live = undefined;
    this.#disarm();
    this.#rejectProvers(error);
  }

  hold(): () => void {
    // A timer that a former holder left behind serves this one too: a timer to set and one to cancel for each short
    // lock would cost more.
    this.#holders += 1;
    if (this.#holders === 1 && !this.#looksForHolders) this.#look();
    let holding = true;
    return () => {
      if (!holding) return;
      holding = false;
      this.#holders -= 1;
    };
  }

  prove(forMs: number): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#provers.add({ forMs, proofsInVain: 0, resolve, reject });
      this.#look();
    });
  }

  /** An answer arrived. */
  answered(sentAt: number, proof: Proof): void {
    // A committed write of somebody else makes the next heartbeat unnecessary for a while.
    if (proof === 'committed') this.#writtenAt = Math.max(this.#writtenAt, sentAt);
    if (this.#awaitsAnswer || (proof !== 'nothing' && this.#provers.size > 0)) this.#look();
  }

  #look(): void {
    this.#disarm();
    const live = this.#live;
    if (live === undefined) return;
    const now = this.#clock.now();
    // Writes and syncs go one at a time: the answer to the one under way looks again.
    this.#resolveProvers(live.proof.certainUntil - now);
    if (this.#inFlight || (this.#holders === 0 && this.#provers.size === 0)) return;
    const { proof } = live;
    const gainAt = proof.awaitsPassage ? -Infinity : proof.nextExtension();
    const dueAt = Math.max(this.#restUntil, this.#provers.size > 0 ? gainAt : this.#heldDueAt(live, gainAt));
    // A write that is due anyway also vouches for the one before it, so the sync is left out.
    const isWriteDue = this.#holders > 0 && this.#writtenAt + live.proof.timeoutMs / 4 <= now;
    if (dueAt <= now) void (proof.awaitsPassage && !isWriteDue ? this.#pass(live) : this.#write(live));
    else if (dueAt < Infinity) {
      this.#timer = this.#clock.setTimer(dueAt - now, () => this.#look());
      this.#looksForHolders = this.#provers.size === 0;
    }
    this.#awaitsAnswer = gainAt === Infinity;
  }

  #heldDueAt(live: LiveSession, gainAt: number): number {
    // The last server may have shortened the session. Certainty is lowered until a write shows that it did not, so a
    // write pays at once.
    if (live.proof.awaitsWrite) return -Infinity;
    const quarterMs = live.proof.timeoutMs / 4;
    return Math.min(this.#writtenAt + quarterMs, Math.max(live.proof.certainUntil - quarterMs, gainAt));
  }

  async #write(live: LiveSession): Promise<void> {
    this.#inFlight = true;
    this.#writtenAt = this.#clock.now();
    const outcomes = await this.#batch(this.#requests(live));
    this.#inFlight = false;
    // The creates of the parents may fail with impunity: only the last request touches the session's own node.
    const failure = isFailure(outcomes.at(-1)) ? outcomes.find(isFailure) : undefined;
    this.#nodeOf = failure === undefined ? live.sessionId : undefined;
    if (this.#live === live) this.#note(failure, live);
    if (this.#live === live && live.proof.awaitsPassage) await this.#pass(live);
    else this.#afterAnswer();
  }

  async #pass(live: LiveSession): Promise<void> {
    this.#inFlight = true;
    // A sync is the cheapest request that passes the leader: no quorum writes it to disk.
    const [outcome] = await this.#batch([sync(this.#path(live))]);
    this.#inFlight = false;
    if (outcome instanceof SessionError && this.#live === live) this.#note(outcome, live);
    this.#afterAnswer();
  }

  #afterAnswer(): void {
    this.#look();
    this.#countProofsInVain();
  }

  #countProofsInVain(): void {
    for (const prover of this.#provers) {
      prover.proofsInVain += 1;
      // The way to the servers may take longer than the requested time leaves: then no write would ever be enough.
      if (prover.proofsInVain <= MAX_PROOFS_IN_VAIN) continue;
      this.#provers.delete(prover);
      prover.reject(
        new SessionError(
          'BAD_ARGUMENTS',
          `The servers answer too slowly to prove ${Math.round(prover.forMs)} ms of life`,
        ),
      );
    }
  }

  #note(failure: SessionError | undefined, live: LiveSession): void {
    this.#failures = failure === undefined ? 0 : this.#failures + 1;
    this.#refusal = failure === undefined || isAboutTheLink(failure) ? undefined : failure;
    // A vanished node or container is made again at once, but only so often: a refusal that lasts must not become a hot
    // loop.
    if (failure === undefined || (failure.code === 'NO_NODE' && this.#failures < MAX_REPAIRS)) return;
    this.#restUntil = this.#clock.now() + this.#restMs(failure, live);
    this.#rejectProvers(failure);
  }

  #restMs(failure: SessionError, { proof }: LiveSession): number {
    const quarterMs = proof.timeoutMs / 4;
    const leftMs = proof.certainUntil - this.#clock.now();
    // A server that is too busy now may take the next write. While certainty is left it is asked again in time.
    if (failure.code !== 'THROTTLED' || leftMs <= 0) return quarterMs;
    return Math.max(proof.timeoutMs / SHORTEST_REST_PART, Math.min(quarterMs, leftMs / 3));
  }

  #requests(live: LiveSession): Request[] {
    const path = this.#path(live);
    if (this.#nodeOf === live.sessionId) return [set(path, NO_DATA)];
    return [...ancestry(this.#root).map((parent) => create(parent, 'container')), create(path, 'ephemeral')];
  }

  #path({ sessionId }: LiveSession): string {
    return `${this.#root}/${sessionIdText(sessionId)}`;
  }

  #resolveProvers(certainMs: number): void {
    for (const prover of this.#provers) {
      if (certainMs <= prover.forMs) continue;
      this.#provers.delete(prover);
      prover.resolve();
    }
  }

  #rejectProvers(error: SessionError): void {
    for (const prover of this.#provers) prover.reject(error);
    this.#provers.clear();
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#looksForHolders = false;
    this.#awaitsAnswer = false;
  }
}

/** A node that already exists is as good as created. */
function isFailure(outcome: Reply | SessionError): outcome is SessionError {
  return outcome instanceof SessionError && outcome.code !== 'NODE_EXISTS';
}
