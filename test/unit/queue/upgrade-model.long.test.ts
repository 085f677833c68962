import { describe, expect, it } from '@jest/globals';
import { nodeOf } from './names.js';
import {
  type Cast,
  type Contender,
  type Flaw,
  initialState,
  isOver,
  isUnsafe,
  type State,
  successors,
  type Upgrader,
} from './upgrade-model.js';

interface Exploration {
  readonly states: number;
  readonly unsafe: State | undefined;
  /** A state in which somebody waits and nobody can do anything. */
  readonly stuck: State | undefined;
}

/** Every state that any order of steps leads to. */
function explore(cast: Cast, flaw?: Flaw): Exploration {
  const seen = new Set<string>();
  const open = [initialState(cast)];
  let stuck: State | undefined;
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    if (isUnsafe(state)) return { states: seen.size, unsafe: state, stuck };
    let canGoOn = false;
    for (const next of successors(state, flaw)) {
      canGoOn = true;
      const key = keyOf(next);
      if (seen.has(key)) continue;
      seen.add(key);
      open.push(next);
    }
    if (!canGoOn && !isOver(state)) stuck ??= state;
  }
  return { states: seen.size, unsafe: undefined, stuck };
}

/** Contenders of one kind differ by their nodes only, and nodes by their order only. */
function keyOf({ readers, writers, exclusives, upgraders, neighbours, nodes, named }: State): string {
  const place = (name = ''): string => (name === '' ? '' : `#${nodes.indexOf(name)}`);
  const places = (names: readonly string[]): string => names.map(place).join();
  const contender = ({ phase, name, isNeighbour, watched = [] }: Contender): string =>
    `${phase} ${isNeighbour} ${place(name)} ${watched.map(([node, version]) => `${place(node)}=${version}`).join()}`;
  const upgrader = (one: Upgrader): string => {
    const sweep = typeof one.sweep === 'string' ? one.sweep : places(one.sweep);
    return `${contender(one)} ${one.step} ${one.attemptsLeft} ${place(one.intent)} ${places(one.readers)} ${sweep}`;
  };
  const remembered = (list: readonly string[] = []): string => {
    const ids = list.map((name) => nodeOf(name).id);
    return list.map((name, at) => `${nodeOf(name).mode}${place(name)}/${ids.indexOf(ids[at])}`).join();
  };
  const { known, listed, departed } = neighbours;
  const names = nodes.map((name) => `${nodeOf(name).mode} ${places(named[name] ?? [])}`);
  return [
    readers.map(contender).sort().join(),
    writers.map(contender).sort().join(),
    exclusives.map(contender).sort().join(),
    upgraders.map(upgrader).sort().join(),
    names.join(),
    remembered(known),
    remembered(listed),
    departed
      .map(({ name, hasHeld }) => `${place(name)}/${known.indexOf(name)}/${listed?.indexOf(name)}/${hasHeld}`)
      .join(),
  ].join('|');
}

const CASTS: readonly Cast[] = [
  { readers: 3, writers: 1, upgraders: 1, attempts: 1 },
  { readers: 1, writers: 2, upgraders: 1, attempts: 1 },
  { readers: 2, writers: 0, upgraders: 1, attempts: 2 },
  { readers: 1, writers: 1, upgraders: 2, attempts: 1 },
  { readers: 1, writers: 1, exclusives: 1, upgraders: 1, attempts: 1 },
  { readers: 2, writers: 0, exclusives: 1, upgraders: 1, attempts: 1 },
];

/** Where one process has several contenders in the queue, a writer of it that leaves lets the next ones in at once. */
const NEIGHBOURS: Cast = {
  readers: 1,
  writers: 1,
  upgraders: 1,
  attempts: 1,
  neighbours: { readers: 1, writers: 1, upgraders: 1 },
};
const NEIGHBOUR_CASTS: readonly Cast[] = [
  NEIGHBOURS,
  { ...NEIGHBOURS, neighbours: { readers: 1, writers: 1 } },
  { ...NEIGHBOURS, neighbours: { writers: 1, upgraders: 1 } },
  { ...NEIGHBOURS, readers: 2 },
  { ...NEIGHBOURS, writers: 2, neighbours: { readers: 1, writers: 2, upgraders: 1 } },
  { ...NEIGHBOURS, writers: 2 },
  { ...NEIGHBOURS, upgraders: 2 },
];

/** Where nobody gives up a circle stays closed, and is found as a state in which nobody can go on. */
const PATIENT_CASTS: readonly Cast[] = [
  { readers: 2, writers: 1, upgraders: 1, attempts: 1, patient: true },
  { readers: 2, writers: 0, exclusives: 1, upgraders: 1, attempts: 1, patient: true },
  { readers: 1, writers: 1, exclusives: 1, upgraders: 1, attempts: 2, patient: true },
  { readers: 1, writers: 0, exclusives: 1, upgraders: 2, attempts: 1, patient: true },
];

describe('the model of an upgrade, in every order in which the steps can happen,', () => {
  it.each(CASTS)(
    '%j: nobody is inside beside a writer, and nobody waits for ever',
    (cast) => {
      const { states, unsafe, stuck } = explore(cast);
      expect({ unsafe, stuck }).toEqual({ unsafe: undefined, stuck: undefined });
      expect(states).toBeGreaterThan(1_000);
    },
    120_000,
  );

  it.each(NEIGHBOUR_CASTS)(
    '%j: nor where neighbours come in while the node of a writer that has departed is still there',
    (cast) => {
      const { states, unsafe, stuck } = explore(cast);
      expect({ unsafe, stuck }).toEqual({ unsafe: undefined, stuck: undefined });
      expect(states).toBeGreaterThan(5_000);
    },
    120_000,
  );

  it.each(PATIENT_CASTS)(
    '%j: nobody waits in a circle',
    (cast) => {
      const { states, unsafe, stuck } = explore(cast);
      expect({ unsafe, stuck }).toEqual({ unsafe: undefined, stuck: undefined });
      expect(states).toBeGreaterThan(100);
    },
    120_000,
  );

  it('finds the circle of an upgrader that waits for readers behind an exclusive contender', () => {
    const cast: Cast = { readers: 1, writers: 0, exclusives: 1, upgraders: 1, attempts: 1, patient: true };
    expect(explore(cast).stuck).toBeUndefined();
    const { unsafe, stuck } = explore(cast, 'the upgrader waits for readers behind an exclusive contender');
    expect(unsafe).toBeUndefined();
    expect(stuck).toMatchObject({
      upgraders: [{ step: 'awaits readers', readers: [stuck?.readers[0]?.name] }],
      exclusives: [{ phase: 'waits', watched: [[stuck?.upgraders[0]?.name, 0]] }],
      readers: [{ phase: 'waits', watched: [[stuck?.exclusives[0]?.name, 0]] }],
    });
  });

  it.each<[Flaw, Cast]>([
    ['readers do not ask for their names', { readers: 1, writers: 1, upgraders: 1, attempts: 1 }],
    ['the upgrader looks before its intent stands', { readers: 1, writers: 0, upgraders: 1, attempts: 1 }],
    ['the upgrader does not wait for the readers', { readers: 1, writers: 0, upgraders: 1, attempts: 1 }],
    [
      'another attempt does not wait for the intent of the last one to be removed',
      { readers: 1, writers: 0, upgraders: 1, attempts: 2 },
    ],
    ['a reader does not wait for a departed writer', NEIGHBOURS],
    ['the upgrader takes readers behind a departed writer for ones that wait', NEIGHBOURS],
  ])('finds what goes wrong when %s', (flaw, cast) => {
    expect(explore(cast).unsafe).toBeUndefined();
    expect(explore(cast, flaw).unsafe).toBeDefined();
  });

  it('no violation is possible without the names unless a queued writer gives up', () => {
    expect(
      explore({ readers: 2, writers: 0, upgraders: 1, attempts: 1 }, 'readers do not ask for their names').unsafe,
    ).toBeUndefined();
  });
});
