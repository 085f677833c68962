import type { Clock, Timer } from '../../lock/clock.js';
import { isAboutTheLink, SessionError } from '../errors.js';
import { ancestry } from '../paths.js';
import { create, type Reply, type Request, set, sync } from '../requests.js';
import { sessionIdText } from '../session-id.js';
import type { Proof } from './link.js';
import type { ProofOfLife } from './proof-of-life.js';

const NO_DATA = new Uint8Array(0);
/** The node deleted by somebody, then its container reaped between two of our creates: more is no coincidence. */
const MAX_REPAIRS = 3;
const MAX_DISAPPOINTMENTS = 5;
/** Of S: a heartbeat that a busy server has put off comes again no sooner. */
const SHORTEST_REST_PART = 20;

/** What the heartbeat needs to know of the session that is up. */
export interface Pulse {
  readonly proof: ProofOfLife;
  readonly timeoutMs: number;
  /** Names the session's own node. */
  readonly sessionId: bigint;
}

interface Prover {
  /** How much certainty it needs ahead. */
  readonly forMs: number;
  /** How many proofs have come that were not enough. */
  disappointments: number;
  resolve(): void;
  reject(error: SessionError): void;
}

/**
 * Keeps a session certain that holds something, with writes to a small ephemeral node of its own: one when the last
 * committed write is a quarter of S old, and sooner when less than a quarter of certainty is left and a write would gain
 * some. A sync behind it vouches for it. Sessions that write anyway, or that hold nothing, cost neither: each of their
 * requests vouches for the one before.
 */
export class Heartbeat {
  readonly #clock: Clock;
  readonly #root: string;
  readonly #batch: (requests: Request[]) => Promise<(Reply | SessionError)[]>;
  readonly #provers = new Set<Prover>();
  #holders = 0;
  #pulse: Pulse | undefined;
  #writtenAt = -Infinity;
  #inFlight = false;
  /** The session whose node exists. */
  #nodeOf: bigint | undefined;
  #failures = 0;
  #refusal: SessionError | undefined;
  /** A write that the servers refuse is not tried again before this. */
  #restUntil = -Infinity;
  #timer: Timer | undefined;
  /** Whether the timer is set, and not later than a holder needs it. */
  #looksForHolders = false;
  /** Whether the next answer of the server decides when to write. */
  #awaitsAnswer = false;

  constructor(clock: Clock, namespace: string, batch: (requests: Request[]) => Promise<(Reply | SessionError)[]>) {
    this.#clock = clock;
    this.#root = `${namespace}/.sessions`;
    this.#batch = batch;
  }

  /** What the servers answered to its last write, where that was not about the link. */
  get refusal(): SessionError | undefined {
    return this.#refusal;
  }

  /** Whether somebody holds on to the session. */
  get isNeeded(): boolean {
    return this.#holders > 0;
  }

  /** The link is up. */
  start(pulse: Pulse): void {
    this.#pulse = pulse;
    this.#failures = 0;
    this.#refusal = undefined;
    this.#restUntil = -Infinity;
    this.#look();
  }

  /** The link is down, or gone for good: nothing can be proved now. */
  stop(error: SessionError): void {
    this.#pulse = undefined;
    this.#disarm();
    this.#rejectProvers(error);
  }

  /** Whoever lets go leaves the timer to whoever holds next: two timers for each short lock would cost more than its place. */
  hold(): () => void {
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
      this.#provers.add({ forMs, disappointments: 0, resolve, reject });
      this.#look();
    });
  }

  /** An answer came; a committed write makes one of ours superfluous for a while. */
  answered(sentAt: number, proof: Proof): void {
    if (proof === 'committed') this.#writtenAt = Math.max(this.#writtenAt, sentAt);
    if (this.#awaitsAnswer || (proof !== 'nothing' && this.#provers.size > 0)) this.#look();
  }

  #look(): void {
    this.#disarm();
    const pulse = this.#pulse;
    if (pulse === undefined) return;
    const now = this.#clock.now();
    this.#resolveProvers(pulse.proof.certainUntil - now);
    if (this.#inFlight || (this.#holders === 0 && this.#provers.size === 0)) return;
    const { proof } = pulse;
    const gainAt = proof.awaitsPassage ? -Infinity : proof.nextExtension();
    const dueAt = Math.max(this.#restUntil, this.#provers.size > 0 ? gainAt : this.#heldDueAt(pulse, gainAt));
    // A write that is due anyway vouches as well as a sync does.
    const isWriteDue = this.#holders > 0 && this.#writtenAt + pulse.timeoutMs / 4 <= now;
    if (dueAt <= now) void (proof.awaitsPassage && !isWriteDue ? this.#pass(pulse) : this.#write(pulse));
    else if (dueAt < Infinity) {
      this.#timer = this.#clock.setTimer(dueAt - now, () => this.#look());
      this.#looksForHolders = this.#provers.size === 0;
    }
    this.#awaitsAnswer = gainAt === Infinity;
  }

  #heldDueAt(pulse: Pulse, gainAt: number): number {
    // While it is open whether the last server shortened the session, less is left than there could be.
    if (pulse.proof.awaitsWrite) return -Infinity;
    const quarterMs = pulse.timeoutMs / 4;
    return Math.min(this.#writtenAt + quarterMs, Math.max(pulse.proof.certainUntil - quarterMs, gainAt));
  }

  async #write(pulse: Pulse): Promise<void> {
    this.#inFlight = true;
    this.#writtenAt = this.#clock.now();
    const outcomes = await this.#batch(this.#requests(pulse));
    this.#inFlight = false;
    const failure = isFailure(outcomes.at(-1)) ? outcomes.find(isFailure) : undefined;
    this.#nodeOf = failure === undefined ? pulse.sessionId : undefined;
    if (this.#pulse === pulse) this.#note(failure, pulse);
    if (this.#pulse === pulse && pulse.proof.awaitsPassage) await this.#pass(pulse);
    else this.#tell();
  }

  /** Has the last committed write vouched for by what is the cheapest to pass the leader: no quorum has to write it down. */
  async #pass(pulse: Pulse): Promise<void> {
    this.#inFlight = true;
    const [outcome] = await this.#batch([sync(this.#path(pulse))]);
    this.#inFlight = false;
    if (outcome instanceof SessionError && this.#pulse === pulse) this.#note(outcome, pulse);
    this.#tell();
  }

  #tell(): void {
    this.#look();
    this.#disappoint();
  }

  /** The way to the servers may take longer than what is asked for leaves room for: then no write will ever do. */
  #disappoint(): void {
    for (const prover of this.#provers) {
      prover.disappointments += 1;
      if (prover.disappointments <= MAX_DISAPPOINTMENTS) continue;
      this.#provers.delete(prover);
      prover.reject(
        new SessionError(
          'BAD_ARGUMENTS',
          `The servers answer too slowly to prove ${Math.round(prover.forMs)} ms of life`,
        ),
      );
    }
  }

  /** A node or container that has vanished is made again at once; what is refused for good must not become a hot loop. */
  #note(failure: SessionError | undefined, pulse: Pulse): void {
    this.#failures = failure === undefined ? 0 : this.#failures + 1;
    this.#refusal = failure === undefined || isAboutTheLink(failure) ? undefined : failure;
    if (failure === undefined || (failure.code === 'NO_NODE' && this.#failures < MAX_REPAIRS)) return;
    this.#restUntil = this.#clock.now() + this.#restMs(failure, pulse);
    this.#rejectProvers(failure);
  }

  /** A server that is too busy may take the next one: while there is certainty left it is asked again in time. */
  #restMs(failure: SessionError, { proof, timeoutMs }: Pulse): number {
    const quarterMs = timeoutMs / 4;
    const leftMs = proof.certainUntil - this.#clock.now();
    if (failure.code !== 'THROTTLED' || leftMs <= 0) return quarterMs;
    return Math.max(timeoutMs / SHORTEST_REST_PART, Math.min(quarterMs, leftMs / 3));
  }

  #requests(pulse: Pulse): Request[] {
    const path = this.#path(pulse);
    if (this.#nodeOf === pulse.sessionId) return [set(path, NO_DATA)];
    return [...ancestry(this.#root).map((parent) => create(parent, 'container')), create(path, 'ephemeral')];
  }

  #path({ sessionId }: Pulse): string {
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

/** The node that is there already is as good as made. */
function isFailure(outcome: Reply | SessionError): outcome is SessionError {
  return outcome instanceof SessionError && outcome.code !== 'NODE_EXISTS';
}
