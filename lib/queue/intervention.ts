import { parseObject } from './node-data.js';

/** Who stepped in from outside, and why: written where those read it whose lock is broken, or whose wait is ended. */
export interface Intervention {
  readonly by: string;
  readonly reason: string;
  /** Milliseconds since 1970, by the wall clock of whoever wrote it. */
  readonly at: number;
}

/**
 * The node below a key that is there while the queue of the key is being drained. No key may have such a segment. Curator sorts names
 * that it does not know as texts, and would wait for one in front of the numbers: a tilde comes behind them.
 */
export const DRAIN_MARKER = '~drained';

/** The longest `by`, and the longest `reason`. */
export const MAX_INTERVENTION_LENGTH = 200;

/**
 * Writes into a contender's data that its lock is broken, and leaves the rest as it is. Data of another make stays as it is
 * altogether: that client would not look, and may read its own.
 */
export function withBreaking(data: Uint8Array, breaking: Intervention): Uint8Array {
  const written = parseObject(data);
  return written === undefined ? data : Buffer.from(JSON.stringify({ ...written, breaking }));
}

/** @returns undefined where nobody has broken the lock; anybody who may write to the queue may have written the data */
export function breakingIn(data: Uint8Array): Intervention | undefined {
  return interventionOf(parseObject(data)?.breaking);
}

export function encodeIntervention(intervention: Intervention): Uint8Array {
  return Buffer.from(JSON.stringify(intervention));
}

/** Reads the data of the marker, whose being there counts: what cannot be read of it is said to be unknown. */
export function decodeIntervention(data: Uint8Array): Intervention {
  return interventionOf(parseObject(data)) ?? { by: 'somebody unknown', reason: 'unknown', at: 0 };
}

function interventionOf(value: unknown): Intervention | undefined {
  const { by, reason, at } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof by !== 'string' || typeof reason !== 'string' || by === '' || reason === '') return undefined;
  return { by: shortened(by), reason: shortened(reason), at: typeof at === 'number' && Number.isFinite(at) ? at : 0 };
}

function shortened(text: string): string {
  return text.length <= MAX_INTERVENTION_LENGTH ? text : `${text.slice(0, MAX_INTERVENTION_LENGTH)}…`;
}
