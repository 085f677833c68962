import type { SeededRandom } from '../time/random.js';

/** How long something takes: always the same, or anything between two bounds. */
export type Latency = number | readonly [minMs: number, maxMs: number];

export function drawLatency(latency: Latency, random: SeededRandom): number {
  if (typeof latency === 'number') return latency;
  const [minMs, maxMs] = latency;
  // Whole tenths, so that several things do fall on the same instant and the schedule has an order to choose.
  return Math.round((minMs + random.next() * (maxMs - minMs)) * 10) / 10;
}
