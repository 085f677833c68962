import { type Server, UnansweredQuestion } from './link.js';

const SHORTEST_ATTEMPT_MS = 250;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;
/** A connection that ended sooner than this was no success: a server that accepts and hangs up must not be hammered. */
const SHORT_LIFE_MS = 1_000;
const MAX_FIRST_PAUSE_MS = 250;

/** A server, and why it failed. */
export interface Failure {
  readonly server: Server;
  readonly reason: string;
}

/** The server as a connect string writes it: `zk1:2181`, `[::1]:2181`. */
export function hostAndPort({ host, port }: Server): string {
  return `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
}

/** Chooses the next server to try and says how long to try it and when to pause. Every round tries each server once. */
export class ServerList {
  readonly #servers: readonly Server[];
  readonly #random: () => number;
  readonly #failures = new Map<string, string>();
  /** For each server, the longest that an attempt at it waited in vain since the last success. */
  readonly #silentForMs = new Map<Server, number>();
  /** Since when each server has done nothing but hang up without a word when asked whether it serves. */
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

  /** Begins anew after a success or a loss. */
  restart(lastChoice?: Server): void {
    this.#rounds = 0;
    this.#failures.clear();
    this.#silentForMs.clear();
    this.#wordlessSince.clear();
    this.#shuffle();
    // The server that failed last is tried last.
    const index = lastChoice === undefined ? -1 : this.#round.indexOf(lastChoice);
    if (index !== -1) this.#round.push(...this.#round.splice(index, 1));
  }

  /**
   * @param certainMs how much certainty of held locks is left; the pause uses up a tenth of it at the most
   * @returns the pause before the next round, in milliseconds
   */
  endRound(certainMs = 0): number {
    const mostMs = certainMs > 0 ? Math.max(FIRST_PAUSE_MS, certainMs / 10) : MAX_PAUSE_MS;
    const pauseMs = Math.min(mostMs, MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#rounds);
    this.#rounds += 1;
    this.#shuffle();
    // The jitter keeps the clients of a fleet from coming back in step.
    return pauseMs * (0.5 + this.#random() / 2);
  }

  /**
   * How long one attempt may take. A server that was silent for the whole of its time may be slow rather than dead, and
   * gets twice as much. A server that refuses at once is not slow.
   *
   * @param certainMs how much certainty of held locks is left; an attempt takes a third of it at the most, so that
   * other servers can still be tried
   */
  attemptMs(server: Server, sessionTimeoutMs: number, certainMs = 0): number {
    const wantedMs = Math.max(this.firstAttemptMs(sessionTimeoutMs), 2 * (this.#silentForMs.get(server) ?? 0));
    const mostMs = certainMs > 0 ? Math.min(sessionTimeoutMs, certainMs / 3) : sessionTimeoutMs;
    return Math.max(SHORTEST_ATTEMPT_MS, Math.min(wantedMs, mostMs));
  }

  /**
   * How long a server may take to answer an offer of the session. The offer lowers certainty, so the server gets half
   * of what is left then. The other half is for the write that proves the session, or for another server.
   */
  offerMs(certainMs: number): number {
    return certainMs > 0 ? Math.max(SHORTEST_ATTEMPT_MS, certainMs / 2) : Infinity;
  }

  firstAttemptMs(sessionTimeoutMs: number): number {
    // At first all servers together get a third of the session's life.
    return Math.max(SHORTEST_ATTEMPT_MS, sessionTimeoutMs / (3 * this.#servers.length));
  }

  /** An attempt at this server ended without an answer after this long. */
  wasSilent(server: Server, attemptMs: number): void {
    this.#silentForMs.set(server, Math.max(attemptMs, this.#silentForMs.get(server) ?? 0));
  }

  /**
   * A pause that spreads the reconnects of a fleet whose server has just died. It grows while connections are
   * short-lived.
   */
  firstPauseMs(livedMs: number): number {
    this.#shortLives = livedMs < SHORT_LIFE_MS ? this.#shortLives + 1 : 0;
    return this.#random() * Math.min(MAX_FIRST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, this.#shortLives - 1));
  }

  failed(server: Server, cause: Error, now: number): void {
    this.#failures.set(hostAndPort(server), cause.message);
    if (!(cause instanceof UnansweredQuestion)) this.#wordlessSince.delete(server);
    else if (!this.#wordlessSince.has(server)) this.#wordlessSince.set(server, now);
  }

  /** For how long the server has done nothing but hang up when asked whether it serves. */
  wordlessMs(server: Server, now: number): number {
    return now - (this.#wordlessSince.get(server) ?? now);
  }

  /**
   * What went wrong with each server since the last success, for people. An attempt under way is told of only where
   * nothing else is known about its server.
   */
  describeFailures(underWay?: Failure): string {
    const failures = new Map(this.#failures);
    const name = underWay === undefined ? '' : hostAndPort(underWay.server);
    if (underWay !== undefined && !failures.has(name)) failures.set(name, underWay.reason);
    // A reason that also names the address has the server's name in it already.
    return [...failures]
      .map(([server, reason]) => (reason.includes(server) ? reason : `${server}: ${reason}`))
      .join('; ');
  }

  #shuffle(): void {
    // A random order spreads the clients of a fleet over the servers.
    this.#round = [...this.#servers];
    for (let last = this.#round.length - 1; last > 0; last -= 1) {
      const other = Math.floor(this.#random() * (last + 1));
      [this.#round[last], this.#round[other]] = [this.#round[other]!, this.#round[last]!];
    }
  }
}
