import { LOCK_MODES } from '../../../lock/mode.js';
import { blocks } from '../../../queue/decide.js';
import type { SeenContender } from '../look/seen-key.js';
import { type Caller, callersOf } from './callers.js';

/** A caller that waits in a queue, and those that hold the lock and must leave before it enters. */
export interface Wait {
  readonly caller: Caller;
  readonly holders: ReadonlySet<string>;
}

/**
 * Finds out who waits for whom in one queue: not each one that waits waits for each that holds. A reader behind a writer waits for those that
 * the writer waits for.
 * @param isOfInterest of whom to tell, by their ids
 */
export function waitsIn(contenders: readonly SeenContender[], isOfInterest: (id: string) => boolean): Wait[] {
  const callers = callersOf(contenders);
  const idsOf = (some: readonly SeenContender[]): Set<string> =>
    new Set(some.map((contender) => callers.get(contender)!.id).filter(isOfInterest));
  const readersInside = idsOf(contenders.filter(({ state, node }) => state === 'holds' && node.mode === 'read'));
  const upgraders = idsOf(contenders.filter(({ state }) => state === 'intent'));
  /** For each mode, those that hold the lock and that a contender of this mode would have to wait for here. */
  const ahead = new Map(LOCK_MODES.map((mode) => [mode, new GrowingSet()]));
  const waits: Wait[] = [];
  for (const contender of contenders) {
    const caller = callers.get(contender)!;
    const { mode } = contender.node;
    const holders = holdersInTheWay(contender);
    if (contender.state !== 'holds' && isOfInterest(caller.id))
      waits.push({ caller, holders: without(holders, caller.id) });
    const isInside = contender.state === 'holds' || contender.state === 'intent';
    const inTheWay = isInside ? idsOf([contender]) : holders;
    for (const other of LOCK_MODES) if (blocks(mode, other)) ahead.get(other)!.add(inTheWay);
  }
  return waits.filter(({ holders }) => holders.size > 0);

  function holdersInTheWay({ state, node: { mode } }: SeenContender): ReadonlySet<string> {
    if (state === 'intent') return readersInside;
    const before = ahead.get(mode)!.ids;
    // An upgrader keeps those readers out, too, that are ahead of its second node and were not inside when it came.
    return mode === 'read' && upgraders.size > 0 ? new Set([...before, ...upgraders]) : before;
  }
}

/** Those that wait one behind the other wait for the same ones, so they share a set: a long queue has few different ones. */
class GrowingSet {
  readonly #all = new Set<string>();
  readonly #added = new Set<ReadonlySet<string>>();
  #ids: ReadonlySet<string> | undefined;

  /** Does not change any more. */
  get ids(): ReadonlySet<string> {
    return (this.#ids ??= new Set(this.#all));
  }

  add(ids: ReadonlySet<string>): void {
    if (this.#added.has(ids)) return;
    this.#added.add(ids);
    for (const id of ids) {
      if (this.#all.has(id)) continue;
      this.#all.add(id);
      this.#ids = undefined;
    }
  }
}

function without(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  return ids.has(id) ? new Set([...ids].filter((one) => one !== id)) : ids;
}
