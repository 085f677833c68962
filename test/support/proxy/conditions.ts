/** Which way bytes travel: from the one who connected to the target, or back. */
export type Direction = 'toServer' | 'toClient';
export type Directions = Direction | 'both';

/**
 * `pass`: as they come. `stall`: kept, and delivered in order when the link passes again, as TCP does after a short
 * partition. `swallow`: gone for good; a connection that lost bytes is cut when the link passes again, because no TCP stream
 * ever goes on with a gap.
 */
export type Flow = 'pass' | 'stall' | 'swallow';

/** What a link does to the bytes of one direction. */
export interface Conditions {
  flow: Flow;
  /** Every byte arrives that much later. */
  delayMs: number;
  /** One byte at a time, each in a write of its own. */
  dribble: boolean;
  /** Whatever arrives within that time leaves in one write; 0 is off. */
  coalesceMs: number;
}

export function untroubled(): Conditions {
  return { flow: 'pass', delayMs: 0, dribble: false, coalesceMs: 0 };
}

export function eachOf(directions: Directions): readonly Direction[] {
  return directions === 'both' ? ['toServer', 'toClient'] : [directions];
}
