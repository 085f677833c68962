import { LockConfigurationError } from '../../lock/errors.js';
import type { Latency } from '../../session/simulator/network/latency.js';
import type { SimulationSettings } from '../../session/simulator/simulation.js';

/** The options of a simulator. All may be left out. */
export interface LockSimulatorOptions {
  /**
   * With `virtual`, time passes only inside `run`, as fast as the machine computes, and a run can be repeated. `real`
   * is the machine's own clock, for code that waits for timers, sockets or files.
   * @default 'virtual'
   */
  readonly clock?: 'virtual' | 'real';
  /**
   * Any whole number, for the virtual clock alone. Latencies, the order of events at one instant and the order of names
   * in lists are drawn from it: the same seed with the same code gives the same run. Without a seed nothing is drawn.
   * @default none
   */
  readonly seed?: number;
  /** How many servers the ensemble has. Their ids begin at 1. @default 1 */
  readonly servers?: number;
  /** The servers' `tickTime` in milliseconds. Sessions last for 2 to 20 ticks. @default 2000 */
  readonly tickMs?: number;
  /**
   * The latency in one direction between a client and a server, in milliseconds, or `[least, most]` to draw from.
   * @default 1, with a seed [0.2, 4]
   */
  readonly clientLatencyMs?: Latency;
  /**
   * The latency in one direction between two servers, in milliseconds, or `[least, most]` to draw from. @default 1,
   * with a seed [0.2, 4]
   */
  readonly serverLatencyMs?: Latency;
  /**
   * How long a server takes to write to its log, in milliseconds, or `[least, most]` to draw from. @default 0, with a
   * seed [0, 2]
   */
  readonly diskMs?: Latency;
  /** The time from the loss of a leader to the next one, where a majority can talk, in milliseconds. @default 200 */
  readonly electionMs?: Latency;
  /**
   * Called with one line for every message that arrives at a client or a server, for runs that went wrong. @default
   * none
   */
  readonly trace?: (line: string) => void;
}

const KNOWN = [
  'clock',
  'seed',
  'servers',
  'tickMs',
  'clientLatencyMs',
  'serverLatencyMs',
  'diskMs',
  'electionMs',
  'trace',
] as const satisfies readonly (keyof LockSimulatorOptions)[];

const DRAWN_MS: Latency = [0.2, 4];
const DRAWN_DISK_MS: Latency = [0, 2];
/** More servers than this show nothing new. */
const MAX_SERVERS = 99;

/** @throws LockConfigurationError that names the option and what was expected */
export function resolveSimulatorOptions(options: LockSimulatorOptions): SimulationSettings {
  if (typeof options !== 'object' || options === null) {
    refuse(`must be given an object such as { seed: 42, servers: 3 }, not ${describe(options)}`);
  }
  const unknown = Object.keys(options).find((name) => !(KNOWN as readonly string[]).includes(name));
  if (unknown !== undefined) refuse(`${unknown}: is not an option (the options are: ${KNOWN.join(', ')})`);
  const { clock = 'virtual', seed, servers = 1, tickMs = 2_000, electionMs = 200, trace } = options;
  if (clock !== 'virtual' && clock !== 'real') refuse(`clock: must be 'virtual' or 'real', not ${describe(clock)}`);
  if (seed !== undefined && !Number.isSafeInteger(seed)) refuse(`seed: must be a whole number, not ${describe(seed)}`);
  if (seed !== undefined && clock === 'real') {
    refuse(
      "seed: is for the virtual clock, since no two runs on the machine's own clock are alike. Leave out seed, or clock: 'real'",
    );
  }
  if (!Number.isInteger(servers) || servers < 1 || servers > MAX_SERVERS) {
    refuse(`servers: must be a whole number from 1 to ${MAX_SERVERS}, not ${describe(servers)}`);
  }
  if (!isMilliseconds(tickMs) || tickMs < 1) {
    refuse(`tickMs: must be a number of milliseconds, 1 or more, not ${describe(tickMs)}`);
  }
  if (trace !== undefined && typeof trace !== 'function') refuse(`trace: must be a function, not ${describe(trace)}`);
  const isDrawn = seed !== undefined;
  const { clientLatencyMs = isDrawn ? DRAWN_MS : 1, serverLatencyMs = isDrawn ? DRAWN_MS : 1 } = options;
  const { diskMs = isDrawn ? DRAWN_DISK_MS : 0 } = options;
  for (const [name, latency] of Object.entries({ clientLatencyMs, serverLatencyMs, diskMs, electionMs })) {
    if (!isLatency(latency)) refuse(`${name}: ${LATENCY_EXPECTED}, not ${describe(latency)}`);
  }
  return {
    clock,
    seed,
    servers,
    tickMs,
    electionMs,
    clientLatencyMs,
    trace,
    peerLatencyMs: serverLatencyMs,
    logMs: diskMs,
  };
}

export const LATENCY_EXPECTED = 'must be a number of milliseconds, or two of them, the least and the most: [0.2, 4]';

export function isLatency(value: unknown): value is Latency {
  if (isMilliseconds(value)) return true;
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [least, most] = value as [unknown, unknown];
  return isMilliseconds(least) && isMilliseconds(most) && least <= most;
}

export function isMilliseconds(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

/** A wrong value as a message shows it. */
export function describe(value: unknown): string {
  if (typeof value === 'string' || Array.isArray(value)) return JSON.stringify(value);
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

function refuse(what: string): never {
  throw new LockConfigurationError(`LockSimulator: ${what}`);
}
