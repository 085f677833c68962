import type { AppendLog } from './appender.js';

export interface Verdict {
  readonly lines: number;
  /** Acknowledged, and not in the file exactly once. */
  readonly lost: number;
  /** In the file, and never sent like that. */
  readonly torn: number;
  /** In the file, although nobody was told. */
  readonly unansweredButThere: number;
  /** Whether the acknowledged lines stand in the order of their fencing tokens. */
  readonly isInOrderOfTokens: boolean;
}

/** Compares the file with what its writers were told. */
export function judge(text: string, { sent, acknowledged, unanswered }: AppendLog): Verdict {
  const lines = text.split('\n');
  // A whole file ends with a line break.
  const rest = lines.pop();
  const places = new Map<string, number[]>();
  lines.forEach((line, index) => places.set(line, [...(places.get(line) ?? []), index]));
  const byToken = [...acknowledged].sort((left, right) => (left.fencingToken < right.fencingToken ? -1 : 1));
  const inOrder = byToken.map(({ line }) => places.get(line)?.[0] ?? -1);
  return {
    lines: lines.length,
    lost: acknowledged.filter(({ line }) => places.get(line)?.length !== 1).length,
    torn: lines.filter((line) => !sent.has(line)).length + (rest === '' ? 0 : 1),
    unansweredButThere: unanswered.filter((line) => places.has(line)).length,
    isInOrderOfTokens: inOrder.every((place, index) => index === 0 || place > inOrder[index - 1]!),
  };
}
