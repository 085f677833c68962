import { type Server, UnansweredQuestion } from './link.js';

const MIN_PATIENCE_MS = 250;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;
/** A connection that lasted less than this was no success: a server that takes us and hangs up must not be hammered. */
const SHORT_LIFE_MS = 1_000;
const MAX_FIRST_PAUSE_MS = 250;

/** What is wrong with a server. */
export interface Failure {
  readonly server: Server;
  readonly reason: string;
}

/** As in a connect string: `zk1:2181`, `[::1]:2181`. */
export function hostAndPort({ host, port }: Server): string {
  return `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
}

/**
 * Which server to try next, for how long, and when to take breath: every server once a round, in random order, so that a
 * fleet spreads itself; the one that failed us last comes last; a jittered pause between rounds.
 */
export class ServerList {
  readonly #servers: readonly Server[];
  readonly #random: () => number;
  readonly #failures = new Map<string, string>();
  /** How long a server was waited for in vain, at the longest, since the last success. */
  readonly #ranOutAfterMs = new Map<Server, number>();
  /** Who hung up without a word when asked whether it serves, and since when it has said nothing else. */
  readonly #wordlessSince = new Map<Server, number>();
  #round: Server[] = [];
  #rounds = 0;
  #shortLives = 0;

  constructor(servers: readonly Server[], random: () => number) {
    this.#servers = servers;
    this.#random = random;
  }

  /** @returns the next server of this round; undefined when all were tried */
  next(): Server | undefined {
    return this.#round.shift();
  }

  /** Starts over, after a success or a loss. */
  restart(lastChoice?: Server): void {
    this.#rounds = 0;
    this.#failures.clear();
    this.#ranOutAfterMs.clear();
    this.#wordlessSince.clear();
    this.#shuffle();
    const index = lastChoice === undefined ? -1 : this.#round.indexOf(lastChoice);
    if (index !== -1) this.#round.push(...this.#round.splice(index, 1));
  }

  /**
   * @param certainMs how much certainty of something that is held is left: no more than a tenth of it is slept away
   * @returns the pause before the next round, in milliseconds
   */
  endRound(certainMs = 0): number {
    const mostMs = certainMs > 0 ? Math.max(FIRST_PAUSE_MS, certainMs / 10) : MAX_PAUSE_MS;
    const pauseMs = Math.min(mostMs, MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#rounds);
    this.#rounds += 1;
    this.#shuffle();
    return pauseMs * (0.5 + this.#random() / 2);
  }

  /**
   * How long one attempt may take. At first all servers together get a third of the session's life. A server that was
   * silent for its whole time may be slow rather than dead, and gets twice as much; one that refuses at once is not slow.
   *
   * @param certainMs how much certainty of something that is held is left: an attempt takes a third of it at the most,
   * so that other servers can still be tried
   */
  patienceMs(server: Server, sessionTimeoutMs: number, certainMs = 0): number {
    const wantedMs = Math.max(this.firstPatienceMs(sessionTimeoutMs), 2 * (this.#ranOutAfterMs.get(server) ?? 0));
    const mostMs = certainMs > 0 ? Math.min(sessionTimeoutMs, certainMs / 3) : sessionTimeoutMs;
    return Math.max(MIN_PATIENCE_MS, Math.min(wantedMs, mostMs));
  }

  /**
   * How long a server that was offered the session may take to answer. From the offer on less is certain, so this is half
   * of what is left then: the other half is for the write that is to prove it, or for another server.
   */
  answerPatienceMs(certainMs: number): number {
    return certainMs > 0 ? Math.max(MIN_PATIENCE_MS, certainMs / 2) : Infinity;
  }

  firstPatienceMs(sessionTimeoutMs: number): number {
    return Math.max(MIN_PATIENCE_MS, sessionTimeoutMs / (3 * this.#servers.length));
  }

  /** An attempt at this server ended without an answer after so long. */
  ranOut(server: Server, patienceMs: number): void {
    this.#ranOutAfterMs.set(server, Math.max(patienceMs, this.#ranOutAfterMs.get(server) ?? 0));
  }

  /** Spreads the reconnects of a fleet whose server has just died; grows while connections do not last. */
  firstPauseMs(livedMs: number): number {
    this.#shortLives = livedMs < SHORT_LIFE_MS ? this.#shortLives + 1 : 0;
    return this.#random() * Math.min(MAX_FIRST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, this.#shortLives - 1));
  }

  failed(server: Server, cause: Error, now: number): void {
    this.#failures.set(hostAndPort(server), cause.message);
    if (!(cause instanceof UnansweredQuestion)) this.#wordlessSince.delete(server);
    else if (!this.#wordlessSince.has(server)) this.#wordlessSince.set(server, now);
  }

  /** For how long it has answered the question whether it serves by nothing but hanging up. */
  wordlessMs(server: Server, now: number): number {
    return now - (this.#wordlessSince.get(server) ?? now);
  }

  /**
   * What went wrong with each server since the last success, for people. An attempt that is still under way tells of a
   * server that nothing else is known of.
   */
  describeFailures(underWay?: Failure): string {
    const failures = new Map(this.#failures);
    const name = underWay === undefined ? '' : hostAndPort(underWay.server);
    if (underWay !== undefined && !failures.has(name)) failures.set(name, underWay.reason);
    // Those who know the address, too, have the name in the text already.
    return [...failures]
      .map(([server, reason]) => (reason.includes(server) ? reason : `${server}: ${reason}`))
      .join('; ');
  }

  #shuffle(): void {
    this.#round = [...this.#servers];
    for (let last = this.#round.length - 1; last > 0; last -= 1) {
      const other = Math.floor(this.#random() * (last + 1));
      [this.#round[last], this.#round[other]] = [this.#round[other]!, this.#round[last]!];
    }
  }
}
