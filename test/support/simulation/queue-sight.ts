import { type AskedCall, countAhead, type Counted } from './asked-call.js';
import type { Entry } from './truth.js';

/** A contender of the call's own process that a list of the servers did not show. */
interface Unlisted {
  readonly counted: Counted;
  /** The node that stood for it and that somebody has removed: its process may not know, and still count it there. */
  readonly place: Entry | undefined;
}

/** What a call that bounds its queue may have seen there, from its question on. */
export class QueueSight {
  /** The queue as it was when the call asked, and after each change since: a list shows one of these. */
  readonly #views: (readonly Entry[])[];
  /** The calls of its process for this key that were under way at some time since it asked. */
  readonly neighbours: Set<AskedCall>;
  /** Those of them that asked before it. */
  readonly earlier: readonly AskedCall[];
  /** How many calls of its process for several locks, this key among them, were under way at some time since it asked. */
  several: number;

  constructor(queue: readonly Entry[], earlier: readonly AskedCall[], several: number) {
    this.#views = [[...queue]];
    this.neighbours = new Set(earlier);
    this.earlier = earlier;
    this.several = several;
  }

  /** The contenders that were there when it asked. */
  get before(): readonly Entry[] {
    return this.#views[0]!;
  }

  /** All that have been there since. */
  get entries(): ReadonlySet<Entry> {
    return new Set(this.#views.flat());
  }

  changed(queue: readonly Entry[]): void {
    const last = this.#views.at(-1)!;
    if (last.length !== queue.length || last.some((entry, index) => entry !== queue[index]))
      this.#views.push([...queue]);
  }

  /** How many the servers alone have shown to be ahead, at the most. */
  mostListed({ mode }: AskedCall): number {
    return Math.max(...this.#views.map((view) => countAhead(view, mode)));
  }

  /**
   * How many the call may have counted at the most. A process counts what one list shows and its own contenders, so each view is
   * completed with those alone. All that has been there since may not be put together: where an upgrader has gone and its intent has not,
   * the intent stands for one that waits at the end, and together they would be one that is inside.
   */
  most({ mode }: AskedCall): number {
    // Where a call for several locks stands is not known. A writer in front of all the others lets none of them be inside together.
    const several = Array.from({ length: this.several }, (_, index): Counted => ({
      mode: 'write',
      id: `several ${index}`,
    }));
    const counts = this.#views.flatMap((view, index) => {
      const unlisted = this.#unlisted(view, index);
      const inPlace = [...view, ...unlisted.flatMap(({ place }) => place ?? [])].sort(byCreation);
      const toCome = unlisted.flatMap(({ place, counted }) => (place === undefined ? [counted] : []));
      // Without a list a process has all of its own in their order. Behind one it puts those that are not in it.
      return [
        countAhead([...several, ...inPlace, ...toCome], mode),
        countAhead([...several, ...view, ...unlisted.map(({ counted }) => counted)], mode),
      ];
    });
    return Math.max(...counts);
  }

  /** Whether its process has, or may have had, contenders there that no list shows. */
  get mayHaveUnlisted(): boolean {
    return this.several > 0 || this.#views.some((view, index) => this.#unlisted(view, index).length > 0);
  }

  #unlisted(view: readonly Entry[], index: number): Unlisted[] {
    const unlisted = [...this.neighbours].flatMap((neighbour): Unlisted | [] => {
      const { nodes, mode, label, hasLeft } = neighbour;
      const newest = nodes.at(-1);
      const toCome = { counted: { mode, id: label }, place: undefined };
      if (newest === undefined) return this.#isStillToCome(neighbour) ? [] : toCome;
      if (hasLeft) return [];
      if (nodes.some((node) => view.includes(node))) return this.#mayQueueAgain(neighbour) ? toCome : [];
      const isLater = this.#views.slice(index + 1).some((later) => later.includes(newest));
      return isLater ? toCome : { counted: newest, place: newest };
    });
    return unlisted.sort((one, other) => (one.place === undefined ? 1 : 0) - (other.place === undefined ? 1 : 0));
  }

  /** Whether it asked later, and has no node yet: then it counts for those behind it alone. */
  #isStillToCome(neighbour: AskedCall): boolean {
    return neighbour.maxWaiting !== undefined && !this.earlier.includes(neighbour);
  }

  /** Whether its node is gone, and another one may be on its way to the servers. */
  #mayQueueAgain({ grant, nodes }: AskedCall): boolean {
    return grant === undefined && !this.#views.at(-1)!.includes(nodes.at(-1)!);
  }
}

function byCreation(one: Entry, other: Entry): number {
  return one.czxid < other.czxid ? -1 : 1;
}
