import type { LinkRequest } from '../../../lib/session/core/link.js';
import type { SessionSettings } from '../../../lib/session/options.js';
import type { ContractClient } from './contract-client.js';

export type Op = LinkRequest['op'] | 'handshake';

export interface SentRequest {
  readonly op: Op;
  /** As the client knows it; undefined where a request has none. */
  readonly path: string | undefined;
  /** On the world's clock. */
  readonly at: number;
}

export interface ClientOptions extends Partial<Omit<SessionSettings, 'servers' | 'clock' | 'random'>> {
  /** The servers in its list, by their numbers. @default all */
  readonly only?: readonly number[];
}

/** What can go wrong between one client and all servers. Every call takes effect at once. */
export interface ClientLink {
  /** Ends the connection; the client may come back at once. */
  cut(): void;
  /** Ends the connection and refuses new ones until `pass`. */
  refuse(): Promise<void>;
  /** Whatever goes that way (by default both ways) gets lost in silence, until `pass`. */
  blackHole(direction?: 'to-server' | 'to-client'): void;
  pass(): Promise<void>;
  /** The server carries the next request of this kind out; the connection ends before the reply arrives. */
  loseReplyOfNext(op: 'create' | 'delete' | 'set' | 'multi' | 'get'): void;
  /** Only the first of the next frames that set watches again arrives, and nothing behind it on that connection. */
  losePartOfSetWatches(): void;
  /** The next time the client offers its session it is told "expired", which is not true. */
  lieAboutExpiry(): void;
  /** What the client sent, delivered or not, in order. */
  sent(): readonly SentRequest[];
}

/** ZooKeeper servers, clients in a network of their own, and a clock: all that a contract test may lean on. */
export interface ContractWorld {
  readonly serverCount: number;
  readonly tickMs: number;
  /** S of clients that ask for no other. Where time is real, it is so long that no session ends by accident. */
  readonly timeoutMs: number;

  now(): number;
  /** Lets so much time pass. */
  pass(durationMs: number): Promise<void>;
  /** Lets time pass until the promise settles; rejects when that takes longer. */
  settle<T>(promise: Promise<T>, withinMs?: number): Promise<T>;
  /** Lets time pass until it is so; rejects when that takes longer. */
  until(what: string, isSo: () => boolean | Promise<boolean>, withinMs?: number): Promise<void>;

  /** A client that begins to connect. */
  open(options?: ClientOptions): Promise<ContractClient>;
  /** Closes what the test opened, and ends all faults. */
  endTest(): Promise<void>;
}

/** A world whose servers a test may harm, and look into. */
export interface HarmableWorld extends ContractWorld {
  /** S for tests that wait for its end. Where time is real, it outlives a stall of two seconds. */
  readonly shortTimeoutMs: number;
  /** Whether nothing is late here but what a test delays. */
  readonly isExact: boolean;
  /** For how long the machine has stood still since the test began, and the clients and servers with it. */
  readonly stalledMs: number;
  /** How late an event may be noticed here, when nothing goes wrong: to be asked when it has been noticed. */
  readonly slackMs: number;

  /** For how much of the last so many milliseconds: what nobody could do meanwhile was not left undone. */
  stalledLatelyMs(withinMs: number): number;
  roles(): Promise<{ readonly leader: number; readonly followers: readonly number[] }>;
  /** Watches set at all servers together. */
  watchCount(): Promise<number>;
  /** Ends the session at the servers, without a word to its client. */
  expire(client: ContractClient): Promise<void>;
  /** Cuts a server off from the others; its clients go on talking to it. They must have no other in their list. */
  isolate(server: number, clients: readonly ContractClient[]): void;
  heal(): Promise<void>;
  /** Takes servers away until no majority is left. */
  dropQuorum(): Promise<void>;
  restoreQuorum(): Promise<void>;
  /** Deletes all that the servers have stored. */
  wipe(): Promise<void>;
}
