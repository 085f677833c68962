import type { LockMode } from '../../../lib/lock/mode.js';
import { decide, readersInside } from '../../../lib/queue/decide.js';
import { idOf, nodeOf, ours } from './names.js';
import { left, type Neighbours, neighbourSteps, NO_NEIGHBOURS } from './upgrade-neighbours.js';

/** What the protocol could get wrong; each is to be caught. */
export type Flaw =
  | 'readers do not ask for their names'
  | 'the upgrader looks before its intent stands'
  | 'the upgrader does not wait for the readers'
  | 'the upgrader waits for readers behind an exclusive contender'
  | 'another attempt does not wait for the intent of the last one to be removed'
  | 'a reader does not wait for a departed writer'
  | 'the upgrader takes readers behind a departed writer for ones that wait';

export interface Cast {
  readonly readers: number;
  readonly writers: number;
  /** Contenders of mode `exclusive`, where writers are of mode `write`. @default 0 */
  readonly exclusives?: number;
  readonly upgraders: number;
  /** How often each upgrader tries, giving up at any point. */
  readonly attempts: number;
  /** Nobody gives up: whoever waits in a circle does so for ever, where a giving up would open it. @default false */
  readonly patient?: boolean;
  /** How many of each are contenders of one process. @default none */
  readonly neighbours?: { readonly readers?: number; readonly writers?: number; readonly upgraders?: number };
}

export interface Contender {
  readonly phase:
    'out' | 'looks' | 'asks for its name' | 'waits' | 'waits for its name' | 'inside' | 'departed' | 'done';
  /** Whether it belongs to the process that the model has neighbours in; every other contender is a process of its own. */
  readonly isNeighbour: boolean;
  readonly name?: string;
  /** What it waits for: nodes, with the version of their data that it saw. */
  readonly watched?: readonly (readonly [name: string, version: number])[];
}

export interface Upgrader extends Contender {
  readonly step: 'rests' | 'searches' | 'creates' | 'lists' | 'names' | 'awaits readers' | 'writes';
  readonly attemptsLeft: number;
  readonly intent?: string;
  readonly readers: readonly string[];
  /** Removing what an attempt left: the look, then the deletion of what it saw. */
  readonly sweep: 'nothing to do' | 'looks' | readonly string[];
}

export interface State {
  readonly next: number;
  readonly nodes: readonly string[];
  /** Whom each intent names, once it was written. */
  readonly named: Readonly<Record<string, readonly string[]>>;
  readonly readers: readonly Contender[];
  readonly writers: readonly Contender[];
  readonly exclusives: readonly Contender[];
  readonly upgraders: readonly Upgrader[];
  readonly neighbours: Neighbours;
  readonly patient: boolean;
}

export type Group = 'readers' | 'writers' | 'exclusives' | 'upgraders';

const OUT: Contender = { phase: 'out', isNeighbour: false };
const GONE_FOR_GOOD = { phase: 'done', step: 'rests', name: '', intent: '', readers: [], attemptsLeft: 0 } as const;

export function initialState(cast: Cast): State {
  const { readers, writers, exclusives = 0, upgraders, attempts, patient = false, neighbours = {} } = cast;
  const upgrader: Upgrader = { ...OUT, step: 'rests', attemptsLeft: attempts, readers: [], sweep: 'nothing to do' };
  const some = <One extends Contender>(count: number, one: One, inOneProcess = 0): One[] =>
    Array.from({ length: count }, (_, index) => ({ ...one, isNeighbour: index < inOneProcess }));
  return {
    next: 0,
    nodes: [],
    named: {},
    readers: some(readers, OUT, neighbours.readers),
    writers: some(writers, OUT, neighbours.writers),
    exclusives: some(exclusives, OUT),
    upgraders: some(upgraders, upgrader, neighbours.upgraders),
    neighbours: NO_NEIGHBOURS,
    patient,
  };
}

/** What may not be: somebody who writes, and anybody else inside; or two upgradeable holders. */
export function isUnsafe({ readers, writers, exclusives, upgraders }: State): boolean {
  const alone = [...writers, ...exclusives].filter(isInside).length;
  const writing = alone + upgraders.filter(({ step }) => step === 'writes').length;
  const upgradeable = upgraders.filter(isInside).length;
  const inside = readers.filter(isInside).length + alone + upgradeable;
  return (writing > 0 && inside > 1) || upgradeable > 1;
}

export function isOver({ readers, writers, exclusives, upgraders }: State): boolean {
  return (
    [...readers, ...writers, ...exclusives, ...upgraders].every(({ phase }) => phase === 'done') &&
    upgraders.every((one) => one.sweep === 'nothing to do')
  );
}

/** Every state that one step of one contender leads to. Each request to the servers is a step of its own. */
export function* successors(state: State, flaw: Flaw | undefined): Generator<State> {
  yield* stepsOf(state, 'readers', 'read', flaw);
  yield* stepsOf(state, 'writers', 'write', flaw);
  yield* stepsOf(state, 'exclusives', 'exclusive', flaw);
  yield* stepsOf(state, 'upgraders', 'upgradeable', flaw);
  yield* neighbourSteps(state, flaw);
  for (const [index, one] of state.upgraders.entries()) {
    const set = (own: Partial<Upgrader>, rest: Partial<State> = {}): State =>
      withOne({ ...state, ...rest }, 'upgraders', index, own);
    const { sweep } = one;
    if (sweep === 'looks') yield set({ sweep: state.nodes.filter((name) => isIntentOf(one, name)) });
    else if (sweep !== 'nothing to do') {
      yield set({ sweep: 'nothing to do' }, { nodes: state.nodes.filter((name) => !sweep.includes(name)) });
    }
    if (one.phase === 'inside') yield* upgradeSteps(state, one, set, flaw);
  }
}

function* stepsOf(state: State, group: Group, mode: LockMode, flaw: Flaw | undefined): Generator<State> {
  for (const [index, one] of state[group].entries()) {
    const set = (own: Partial<Contender>, rest: Partial<State> = {}): State =>
      withOne({ ...state, ...rest }, group, index, own);
    const { name = '' } = one;
    const remove = (): State =>
      set({ phase: 'done', name: '', watched: [] }, { nodes: state.nodes.filter((node) => node !== name) });
    // Neighbours know at once, before the servers have removed the node.
    const departed = { name, hasHeld: one.phase === 'inside' };
    const leave = (): State =>
      one.isNeighbour ? left(set({ phase: 'departed', watched: [] }), departed, flaw) : remove();
    switch (one.phase) {
      case 'out': {
        const created = ours(mode, state.next, idOf(state.next));
        yield set({ phase: 'looks', name: created }, { next: state.next + 1, nodes: [...state.nodes, created] });
        break;
      }
      case 'looks': {
        // Neighbours share a look.
        if (one.isNeighbour) break;
        const decision = decide(state.nodes, name);
        if (decision.kind === 'hold') yield set({ phase: 'inside' });
        else if (decision.kind === 'wait') yield set({ phase: 'waits', watched: [[decision.watch.name, 0]] });
        else if (decision.kind === 'hold if named') {
          const watched = decision.intents.map((intent) => [intent.name, 0] as const);
          yield set(
            flaw === 'readers do not ask for their names'
              ? { phase: 'inside' }
              : { phase: 'asks for its name', watched },
          );
        }
        break;
      }
      case 'asks for its name': {
        const watched = (one.watched ?? []).map(([intent]) => [intent, versionOf(state, intent)] as const);
        if (watched.some(([, version]) => version === GONE)) yield set({ phase: 'looks', watched: [] });
        else if (watched.every(([intent]) => state.named[intent]?.includes(name) === true))
          yield set({ phase: 'inside', watched: [] });
        else yield set({ phase: 'waits for its name', watched });
        break;
      }
      case 'waits':
        if (one.watched?.some(([node]) => !state.nodes.includes(node)) === true)
          yield set({ phase: 'looks', watched: [] });
        if (!state.patient && (mode === 'write' || mode === 'exclusive')) yield leave();
        break;
      case 'waits for its name':
        if (one.watched?.some(([node, version]) => versionOf(state, node) !== version) === true)
          yield set({ phase: 'looks', watched: [] });
        break;
      case 'inside':
        if (mode !== 'upgradeable') yield leave();
        break;
      case 'departed':
        yield remove();
        break;
      case 'done':
    }
  }
}

function* upgradeSteps(
  state: State,
  one: Upgrader,
  set: (own: Partial<Upgrader>, rest?: Partial<State>) => State,
  flaw: Flaw | undefined,
): Generator<State> {
  const { nodes, next, named } = state;
  const leave = (...gone: readonly (string | undefined)[]): State => {
    const after = set(GONE_FOR_GOOD, { nodes: nodes.filter((name) => !gone.includes(name)) });
    return one.isNeighbour ? left(after, { name: one.name!, hasHeld: true }, flaw) : after;
  };
  const found = (intent: string): Partial<Upgrader> => ({
    step: 'names',
    intent,
    readers: readersInside(seenBy(flaw, nodes), intent).map(({ name }) => name),
  });
  const mayStart =
    one.sweep === 'nothing to do' ||
    flaw === 'another attempt does not wait for the intent of the last one to be removed';
  switch (one.step) {
    case 'rests':
      if (one.attemptsLeft > 0 && mayStart) yield set({ step: 'searches', attemptsLeft: one.attemptsLeft - 1 });
      if (one.sweep === 'nothing to do') yield leave(one.name);
      return;
    case 'searches': {
      const there = nodes.find((name) => isIntentOf(one, name));
      if (there !== undefined) yield set(found(there));
      else if (flaw === 'the upgrader looks before its intent stands') {
        yield set({ step: 'creates', readers: readersInside(nodes, '').map(({ name }) => name) });
      } else yield set({ step: 'creates' });
      break;
    }
    case 'creates': {
      const intent = ours('write', next, nodeOf(one.name!).id);
      const step = flaw === 'the upgrader looks before its intent stands' ? 'names' : 'lists';
      const created = { next: next + 1, nodes: [...nodes, intent] };
      yield set({ step, intent }, created);
      // The answer is lost: it searches for what it may have created.
      if (flaw === undefined) yield set({ step: 'searches' }, created);
      break;
    }
    case 'lists':
      yield set(found(one.intent ?? ''));
      break;
    case 'names':
      // A set on an intent that is gone fails, and the attempt with it.
      if (!nodes.includes(one.intent ?? '')) yield set({ step: 'rests', sweep: 'looks' });
      else
        yield set(
          { step: 'awaits readers' },
          one.readers.length === 0 ? {} : { named: { ...named, [one.intent ?? '']: one.readers } },
        );
      break;
    case 'awaits readers':
      if (flaw === 'the upgrader does not wait for the readers' || !one.readers.some((name) => nodes.includes(name))) {
        yield set({ step: 'writes' });
      }
      break;
    case 'writes':
      // Both in one transaction.
      yield leave(one.name, one.intent);
      return;
  }
  if (!state.patient) yield set({ step: 'rests', sweep: 'looks' });
}

function seenBy(flaw: Flaw | undefined, nodes: readonly string[]): readonly string[] {
  if (flaw === 'the upgrader waits for readers behind an exclusive contender')
    return nodes.filter((name) => nodeOf(name).mode !== 'exclusive');
  if (flaw !== 'the upgrader takes readers behind a departed writer for ones that wait') return nodes;
  const writer = nodes.findIndex((name) => nodeOf(name).mode === 'write');
  return nodes.filter((name, index) => index < writer || nodeOf(name).mode !== 'read');
}

const GONE = -1;

function isInside({ phase }: Contender): boolean {
  return phase === 'inside';
}

function versionOf({ nodes, named }: State, name: string): number {
  if (!nodes.includes(name)) return GONE;
  return named[name] === undefined ? 0 : 1;
}

function isIntentOf({ name = '' }: Upgrader, other: string): boolean {
  return name !== '' && other !== name && nodeOf(other).id === nodeOf(name).id;
}

export function withOne(state: State, group: Group, index: number, own: Partial<Contender | Upgrader>): State {
  const members = state[group].map((one, at) => (at === index ? { ...one, ...own } : one));
  return { ...state, [group]: members };
}
