import type { Latency } from '../network/latency.js';

/** The settings of an ensemble's configuration file, and the speed of its machines. */
export interface EnsembleSettings {
  readonly servers: number;
  readonly tickMs: number;
  /** After this many ticks of silence a follower and its leader give each other up. */
  readonly syncLimitTicks: number;
  readonly initLimitTicks: number;
  /** The time from the loss of a leader to the election of another, where a majority can talk. */
  readonly electionMs: Latency;
  /** The latency in one direction between a client and a server. */
  readonly clientLatencyMs: Latency;
  /** The latency in one direction between two servers. */
  readonly peerLatencyMs: Latency;
  /** The time that writing a proposal to the log takes. */
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

/** @param maxMs the limit of a server that is configured differently from the others */
export function grantedTimeoutMs(askedMs: number, tickMs: number, maxMs = MAX_SESSION_TICKS * tickMs): number {
  return Math.min(Math.max(askedMs, MIN_SESSION_TICKS * tickMs), maxMs);
}
