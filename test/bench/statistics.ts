export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Element by element: pairs are of one moment, so their quotients are what can be compared. */
export function medianRatio(numerators: readonly number[], denominators: readonly number[]): number {
  return median(numerators.map((value, index) => value / denominators[index]!));
}

export function durationText(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds / 10) * 10} seconds` : `${Math.ceil(seconds / 60)} minutes`;
}
