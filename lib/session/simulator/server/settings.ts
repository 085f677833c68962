import type { Latency } from '../network/latency.js';

/** What an ensemble's configuration file would say, and how fast its machines are. */
export interface EnsembleSettings {
  readonly servers: number;
  readonly tickMs: number;
  /** A follower and its leader give each other up after so many ticks of silence. */
  readonly syncLimitTicks: number;
  readonly initLimitTicks: number;
  /** From losing a leader to having elected another, where a majority can talk. */
  readonly electionMs: Latency;
  /** One way, between a client and a server. */
  readonly clientLatencyMs: Latency;
  /** One way, between two servers. */
  readonly peerLatencyMs: Latency;
  /** Writing a proposal to the log. */
  readonly logMs: Latency;
  readonly containerCheckMs: number;
}

export const DEFAULT_SETTINGS: EnsembleSettings = {
  servers: 1,
  tickMs: 2_000,
  syncLimitTicks: 5,
  initLimitTicks: 10,
  electionMs: 200,
  clientLatencyMs: 1,
  peerLatencyMs: 1,
  logMs: 0,
  containerCheckMs: 60_000,
};

const MIN_SESSION_TICKS = 2;
const MAX_SESSION_TICKS = 20;

/** @param maxMs of a server that is configured apart from the others */
export function grantedTimeoutMs(askedMs: number, tickMs: number, maxMs = MAX_SESSION_TICKS * tickMs): number {
  return Math.min(Math.max(askedMs, MIN_SESSION_TICKS * tickMs), maxMs);
}
