/** Leads from each place to others. Places without ways may be left out. */
export type Ways = ReadonlyMap<string, readonly string[]>;

/** The sets of places that can all reach each other, of two places and more. The stack of calls does not grow with the ways. */
export function knots(ways: Ways): string[][] {
  const found: string[][] = [];
  /** In which order the places were met, and the earliest place that each can get back to. */
  const met = new Map<string, { readonly at: number; back: number; isOpen: boolean }>();
  const open: string[] = [];
  for (const start of ways.keys()) {
    if (met.has(start)) continue;
    const path = [enter(start)];
    while (path.length > 0) {
      const step = path.at(-1)!;
      const mine = met.get(step.place)!;
      const next = step.next.pop();
      if (next === undefined) {
        path.pop();
        const before = path.at(-1);
        if (before !== undefined) lower(before.place, mine.back);
        if (mine.back === mine.at) close(step.place);
      } else if (!met.has(next)) path.push(enter(next));
      else if (met.get(next)!.isOpen) lower(step.place, met.get(next)!.at);
    }
  }
  return found;

  function enter(place: string): { readonly place: string; readonly next: string[] } {
    met.set(place, { at: met.size, back: met.size, isOpen: true });
    open.push(place);
    return { place, next: [...(ways.get(place) ?? [])].reverse() };
  }

  function lower(place: string, back: number): void {
    const mark = met.get(place)!;
    mark.back = Math.min(mark.back, back);
  }

  function close(place: string): void {
    const knot = open.splice(open.lastIndexOf(place));
    for (const one of knot) met.get(one)!.isOpen = false;
    if (knot.length > 1) found.push(knot);
  }
}

/** The shortest way around in a knot that leads through one of its places. */
export function wayAround(ways: Ways, knot: readonly string[]): string[] {
  const inside = new Set(knot);
  const [start] = knot;
  const cameFrom = new Map<string, string>();
  const queue = [start!];
  for (const place of queue) {
    for (const next of ways.get(place) ?? []) {
      if (next === start) return wayTo(place, cameFrom);
      if (!inside.has(next) || cameFrom.has(next)) continue;
      cameFrom.set(next, place);
      queue.push(next);
    }
  }
  return [...knot];
}

function wayTo(place: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const way: string[] = [];
  for (let at: string | undefined = place; at !== undefined; at = cameFrom.get(at)) way.push(at);
  return way.reverse();
}
