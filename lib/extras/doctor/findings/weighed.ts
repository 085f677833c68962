import type { ContenderSnapshot } from '../../../lock/snapshot.js';
import { nameOf } from '../graph/callers.js';
import type { Finding, FindingKind, FindingSeverity } from '../lock-examination.js';

/** A finding, and how it compares with others of its severity. */
export interface Weighed extends Finding {
  readonly weight: number;
}

const SEVERITIES: readonly FindingSeverity[] = ['critical', 'warning', 'notice'];
/** Those that stop everybody come before those that stop some, and these before what only wants tidying. */
const KINDS: readonly FindingKind[] = [
  'deadlock',
  'abandoned',
  'orphan',
  'sequence nearly full',
  'session near its limit',
  'long hold',
  'long queue',
  'foreign node',
  'container not reaped',
  'wait without a label',
];
/** At most this many findings of a kind are told one by one. A list of thousands would hide the others. */
export const MAX_OF_A_KIND = 50;

/** The worst first, and of each kind no more than can be read. */
export function worstFirst(found: readonly Weighed[]): Finding[] {
  const sorted = [...found].sort(
    (one, other) =>
      SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity) ||
      KINDS.indexOf(one.kind) - KINDS.indexOf(other.kind) ||
      other.weight - one.weight,
  );
  const counts = new Map<FindingKind, number>();
  const told: Finding[] = [];
  for (const { kind, severity, key, text, advice } of sorted) {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    if (count <= MAX_OF_A_KIND) told.push({ kind, severity, key, text, advice });
  }
  for (const [kind, count] of counts) if (count > MAX_OF_A_KIND) told.push(andMore(kind, count - MAX_OF_A_KIND));
  return told;
}

function andMore(kind: FindingKind, count: number): Finding {
  return {
    kind,
    severity: 'notice',
    key: undefined,
    text: `There are ${count} more findings "${kind}", none of them worse than those that are told.`,
    advice: 'Deal with those that are told, and look again; or examine a smaller part of the tree, with a prefix.',
  };
}

/** Names a contender for people. */
export function whoIs({ client, sessionId }: Pick<ContenderSnapshot, 'client' | 'sessionId'>): string {
  return client === undefined ? `another kind of client (session ${sessionId})` : nameOf(client);
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** A time for people, in the largest unit of which there are at least two. */
export function duration(ms: number): string {
  if (ms < 2 * MINUTE_MS) return `${Math.round(ms / SECOND_MS)} s`;
  if (ms < 2 * HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  return ms < 48 * HOUR_MS ? `${Math.floor(ms / HOUR_MS)} h` : `${Math.floor(ms / (24 * HOUR_MS))} days`;
}

/** The first few of many names, for people. */
export function firstOf(names: readonly string[], most = 3): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
