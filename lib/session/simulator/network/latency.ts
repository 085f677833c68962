import type { SeededRandom } from '../time/random.js';

/** A duration: a constant, or a random one between two bounds. */
export type Latency = number | readonly [minMs: number, maxMs: number];

export function drawLatency(latency: Latency, random: SeededRandom): number {
  if (typeof latency === 'number') return latency;
  const [minMs, maxMs] = latency;
  // Delays are rounded to tenths of a millisecond, so that several events can fall on one instant and chance can order
  // them.
  return Math.round((minMs + random.next() * (maxMs - minMs)) * 10) / 10;
}
