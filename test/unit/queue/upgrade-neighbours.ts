import { KnownQueue } from '../../../lib/engine/acquire/known-queue.js';
import type { LockMode } from '../../../lib/lock/mode.js';
import { blocks, decideIn, type Decision } from '../../../lib/queue/decide.js';
import type { QueueNode } from '../../../lib/queue/node-name.js';
import { nodeOf } from './names.js';
import { type Contender, type Flaw, type State, withOne } from './upgrade-model.js';

/** What the contenders of one process share. */
export interface Neighbours {
  /** The newest list that this process has heard. */
  readonly known: readonly string[];
  /** Nodes of its contenders that have left in good order, and excluded all others. */
  readonly departed: readonly Departed[];
  /** A list that the servers have answered, and that this process has not heard yet. */
  readonly listed: readonly string[] | undefined;
}

interface Departed {
  readonly name: string;
  /** Whether it was inside, or gave up its wait. */
  readonly hasHeld: boolean;
}

/** What a decision rests on. */
type Basis = 'a new list' | 'a hand-over' | 'no news';

interface Member {
  readonly group: 'readers' | 'writers' | 'upgraders';
  readonly index: number;
  readonly one: Contender;
  readonly node: QueueNode;
}

export const NO_NEIGHBOURS: Neighbours = { known: [], departed: [], listed: undefined };

/** The steps that a process takes for all its contenders: it asks for a list, and hears it. */
export function* neighbourSteps(state: State, flaw: Flaw | undefined): Generator<State> {
  const { neighbours, nodes } = state;
  if (neighbours.listed !== undefined) {
    const { listed: known } = neighbours;
    const departed = neighbours.departed.filter(({ name }) => known.includes(name));
    yield decideFor({ ...state, neighbours: { known, departed, listed: undefined } }, 'a new list', flaw);
  } else if (membersOf(state).some(({ one }) => one.phase === 'looks')) {
    yield { ...state, neighbours: { ...neighbours, listed: nodes } };
  }
}

/** One of the process has left: for the others a writer counts no more, though its node may still be there. */
export function left(state: State, one: Departed, flaw: Flaw | undefined): State {
  const { neighbours } = state;
  if (!excludesAll(nodeOf(one.name))) return decideFor(state, 'no news', flaw);
  const departed = [...neighbours.departed, one];
  return decideFor({ ...state, neighbours: { ...neighbours, departed } }, 'a hand-over', flaw);
}

/** Goes through the contenders of the process in the order of the queue, and lets in whose turn has come. */
function decideFor(before: State, basis: Basis, flaw: Flaw | undefined): State {
  let state = before;
  const members = membersOf(state);
  const known = knownTo(state);
  for (const [at, { group, index, one, node }] of members.entries()) {
    if (one.phase !== 'looks' && one.phase !== 'waits') continue;
    const isBlocked = members.slice(0, at).some((ahead) => blocks(ahead.node.mode, node.mode));
    const counting = flaw === 'a reader does not wait for a departed writer' ? known.nodes : known.nodesFor(node);
    if (!state.neighbours.known.includes(node.name))
      state = withOne(state, group, index, { phase: 'looks', watched: [] });
    else if (isBlocked) state = withOne(state, group, index, { phase: 'waits', watched: [] });
    else state = withOne(state, group, index, decided(decideIn(counting, node), basis));
  }
  return state;
}

function decided(decision: Decision, basis: Basis): Pick<Contender, 'phase' | 'watched'> {
  switch (decision.kind) {
    case 'hold':
      return { phase: basis === 'no news' ? 'looks' : 'inside', watched: [] };
    case 'hold if named':
      if (basis !== 'a new list') return { phase: 'looks', watched: [] };
      return { phase: 'asks for its name', watched: decision.intents.map(({ name }) => [name, 0] as const) };
    case 'wait':
      return { phase: 'waits', watched: [[decision.watch.name, 0]] };
    case 'gone':
    case 'refuse':
      throw new Error(`The model has no contender that is told: ${decision.kind}`);
  }
}

/** The product's own rule of what counts for whom. */
function knownTo({ neighbours: { known, departed } }: State): KnownQueue {
  const queue = new KnownQueue();
  queue.listed({ children: known, stat: { pzxid: 0n } } as Parameters<KnownQueue['listed']>[0]);
  for (const { name, hasHeld } of departed) queue.departed(nodeOf(name), hasHeld);
  return queue;
}

/** The contenders of the process that are in the queue and have not left it, in the order of the queue. */
function membersOf(state: State): Member[] {
  const members: Member[] = [];
  for (const group of ['readers', 'writers', 'upgraders'] as const) {
    for (const [index, one] of state[group].entries()) {
      if (!one.isNeighbour || one.phase === 'out' || one.phase === 'departed' || one.phase === 'done') continue;
      members.push({ group, index, one, node: nodeOf(one.name!) });
    }
  }
  return members.sort((one, other) => one.node.sequence - other.node.sequence);
}

function excludesAll({ mode }: { readonly mode: LockMode }): boolean {
  return mode === 'write' || mode === 'exclusive';
}
