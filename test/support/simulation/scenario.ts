import { SeededRandom } from '../../../lib/session/simulator/time/random.js';
import type { Latency } from '../../../lib/session/simulator/network/latency.js';
import { type BoundUse, drawBoundUse } from './bounded-caller.js';
import { drawRecordUse, type RecordUse } from './record-draws.js';

/** Which kinds of trouble a schedule has. `calm` has none but an operator, so everything must be told at once. */
export type Profile = 'calm' | 'processes' | 'network' | 'servers' | 'administration' | 'everything';

/** What one schedule is made of; everything follows from its seed. */
export interface Scenario {
  readonly seed: number;
  readonly profile: Profile;
  readonly servers: number;
  readonly tickMs: number;
  /** S */
  readonly sessionTimeoutMs: number;
  readonly clientLatencyMs: Latency;
  readonly peerLatencyMs: Latency;
  readonly logMs: Latency;
  readonly containerCheckMs: number;
  readonly processes: number;
  /** Callers in each process that take one lock after the other. */
  readonly callers: number;
  readonly keys: readonly string[];
  readonly namespace: string;
  readonly waitMs: number;
  readonly lockDelayMs: number;
  /** undefined: no call asks for anything that is kept in the record of its key, but the module perhaps for a lock-delay. */
  readonly record: RecordUse | undefined;
  /** undefined: no call bounds the queue that it joins. */
  readonly maxWaiting: BoundUse | undefined;
  /** How many processes were told to stop as soon as the link is down. */
  readonly stopOnSuspension: number;
  /** For so long callers begin something new, and faults happen. */
  readonly activeMs: number;
  readonly faults: number;
}

const PROFILES: readonly Profile[] = ['calm', 'processes', 'network', 'servers', 'administration', 'everything'];

/** Draws a schedule: small ones mostly, as what goes wrong goes wrong among few. */
export function drawScenario(seed: number): Scenario {
  const random = new SeededRandom(seed).fork('scenario');
  const profile = PROFILES[random.integer(PROFILES.length)]!;
  const servers = pick(random, profile === 'servers' ? [3, 3, 3, 5] : [1, 1, 3, 3, 3, 5]);
  const tickMs = pick(random, [250, 500, 500, 1_000, 2_000]);
  // With two ticks of 250 ms the margins eat up what is left between two pings, and healthy locks are lost.
  const sessionTimeoutMs = tickMs * pick(random, tickMs < 500 ? [3, 4, 5, 8] : [2, 2, 3, 4, 4, 5, 8]);
  const keys = Array.from({ length: pick(random, [1, 1, 2, 3, 4]) }, (_, index) => `/locks/${'abcd'[index]}`);
  const crowd = drawCrowd(seed);
  return {
    seed,
    profile,
    servers,
    tickMs,
    sessionTimeoutMs,
    clientLatencyMs: pick<Latency>(random, [1, [0.2, 2], [1, 8]]),
    peerLatencyMs: pick<Latency>(random, [1, [0.2, 3]]),
    logMs: pick<Latency>(random, [0, 0, [0.1, 4]]),
    containerCheckMs: pick(random, [50, 60_000, 60_000]),
    processes: 2 + random.integer(random.integer(2) === 0 ? 2 : 5),
    callers: 1 + random.integer(2),
    ...(crowd === undefined ? { keys } : { keys: keys.slice(0, 1), ...crowd }),
    namespace: pick(random, ['', '', '/service']),
    waitMs: sessionTimeoutMs * pick(random, [1, 2, 3]),
    lockDelayMs: random.integer(6) === 0 ? Math.round(sessionTimeoutMs * (0.1 + random.next())) : 0,
    record: drawRecordUse(seed, sessionTimeoutMs),
    maxWaiting: drawBoundUse(seed),
    stopOnSuspension: random.integer(4) === 0 ? 1 : 0,
    activeMs: sessionTimeoutMs * pick(random, [3, 4, 6]),
    faults: profile === 'calm' ? random.integer(3) : 1 + random.integer(6),
  };
}

/** Many callers in few processes at one key: they meet in what neighbours share. */
function drawCrowd(seed: number): Pick<Scenario, 'processes' | 'callers'> | undefined {
  const random = new SeededRandom(seed).fork('crowd');
  if (!chance(random, 0.2)) return undefined;
  return { processes: 1 + random.integer(3), callers: 3 + random.integer(3) };
}

export function pick<T>(random: SeededRandom, choices: readonly T[]): T {
  return choices[random.integer(choices.length)]!;
}

/** Whether something happens that has this chance. */
export function chance(random: SeededRandom, probability: number): boolean {
  return random.next() < probability;
}
