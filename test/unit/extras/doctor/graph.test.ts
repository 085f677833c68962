import { describe, expect, it } from '@jest/globals';
import { graphOf } from '../../../../lib/extras/doctor/graph/graph-of.js';
import { knots, wayAround } from '../../../../lib/extras/doctor/graph/cycles.js';
import { LockDoctor } from '../../../../lib/extras/doctor/lock-doctor.js';
import { rejection } from '../../engine/support/engine-world.js';
import { useEngine } from '../../engine/support/use-engine.js';
import { seenWith } from './support/seen-keys.js';

const edgesOf = (graph: ReturnType<typeof graphOf>): string[] =>
  graph.edges.map(({ from, to, kind }) => `${from} ${kind} ${to}`);

describe('The graph of who waits for whom', () => {
  it('has an edge for each one that waits, and for each one that holds', () => {
    const graph = graphOf([
      seenWith('/a', [{ owner: 'ada', label: 'settle' }, { owner: 'bob' }]),
      seenWith('/b', [
        { owner: 'bob', mode: 'read' },
        { owner: 'cy', mode: 'read' },
      ]),
    ]);
    expect(edgesOf(graph)).toEqual([
      'key /a held by owner ada',
      'owner bob waits for key /a',
      'key /b held by owner bob',
      'key /b held by owner cy',
    ]);
    expect(graph.cycles).toEqual([]);
    expect(graph.nodes.filter(({ kind }) => kind === 'key').map(({ name }) => name)).toEqual(['/a', '/b']);
    expect(graph.nodes.find(({ id }) => id === 'owner ada')).toMatchObject({
      kind: 'owner',
      name: 'settle, web-1, pid 7',
      client: { owner: 'ada', label: 'settle' },
    });
    const json = JSON.parse(JSON.stringify(graph)) as { nodes: { client?: { askedAt: string } }[] };
    expect(json.nodes.find(({ client }) => client !== undefined)!.client!.askedAt).toMatch(/^2023-11-14T/);
  });

  it('finds those that wait for each other, over any number of keys, and through those that only wait', () => {
    const around = (owner: string, next: string) => [{ owner }, { owner: `${owner} idle` }, { owner: next }];
    const graph = graphOf([
      seenWith('/a', around('ada', 'bob')),
      seenWith('/b', around('bob', 'cy')),
      seenWith('/c', around('cy', 'ada')),
      seenWith('/d', [{ owner: 'dan' }, { owner: 'ada idle' }]),
    ]);
    expect(graph.cycles).toHaveLength(1);
    const [cycle] = graph.cycles;
    expect(cycle).toHaveLength(6);
    const at = cycle!.indexOf('owner ada');
    expect([...cycle!.slice(at), ...cycle!.slice(0, at)]).toEqual([
      'owner ada',
      'key /c',
      'owner cy',
      'key /b',
      'owner bob',
      'key /a',
    ]);
  });

  it('finds a reader that waits behind a writer for the readers inside', () => {
    const graph = graphOf([
      seenWith('/a', [
        { owner: 'ada', mode: 'read' },
        { owner: 'bob', mode: 'write' },
        { owner: 'cy', mode: 'read' },
      ]),
      seenWith('/b', [{ owner: 'cy' }, { owner: 'ada' }]),
    ]);
    expect(graph.cycles.map((cycle) => [...cycle].sort())).toEqual([['key /a', 'key /b', 'owner ada', 'owner cy']]);
  });

  it('finds an upgrader that waits for a reader which waits for it', () => {
    const upgrade = [
      { owner: 'ada', mode: 'upgradeable' },
      { owner: 'bob', mode: 'read' },
      { owner: '', upgrades: 0, readers: [1] },
    ] as const;
    expect(graphOf([seenWith('/a', upgrade)]).cycles).toEqual([]);
    const graph = graphOf([seenWith('/a', upgrade), seenWith('/b', [{ owner: 'ada' }, { owner: 'bob' }])]);
    expect(graph.cycles.map((cycle) => [...cycle].sort())).toEqual([['key /a', 'key /b', 'owner ada', 'owner bob']]);
    expect(edgesOf(graph)).toContain('owner ada waits for key /a');
  });

  it('knows that who waits for a key does not wait for all that hold it', () => {
    const graph = graphOf([
      // Cy waits for Ada's turn to upgrade, and not for Bob, who reads.
      seenWith('/a', [
        { owner: 'ada', mode: 'upgradeable' },
        { owner: 'bob', mode: 'read' },
        { owner: 'cy', mode: 'upgradeable' },
      ]),
      seenWith('/b', [{ owner: 'cy' }, { owner: 'bob' }]),
    ]);
    expect(graph.cycles).toEqual([]);
  });

  it('takes contenders that do not say whose they are for callers of their own, also within one session', () => {
    const foreign = { owner: '', data: '192.0.2.7' };
    const graph = graphOf([seenWith('/a', [foreign, { owner: 'ada' }]), seenWith('/b', [{ owner: 'ada' }, foreign])]);
    expect(graph.cycles).toEqual([]);
    expect(graph.nodes.filter(({ kind }) => kind === 'owner')).toHaveLength(3);
  });

  it('takes no minutes for a queue of 20 000 in a knot, nor a deep stack', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => ({ owner: `o${index}`, mode: 'read' as const }));
    const graph = graphOf([
      seenWith('/a', [...many, { owner: 'writer', mode: 'write' }]),
      seenWith('/b', [{ owner: 'writer' }, ...many.map((place) => ({ ...place, mode: 'write' as const }))]),
    ]);
    expect(graph.cycles).toHaveLength(1);
    expect(graph.cycles[0]).toHaveLength(4);
  });
});

describe('Cycles', () => {
  const ways = (...edges: string[]): Map<string, string[]> => {
    const all = new Map<string, string[]>();
    for (const [from, to] of edges) all.set(from!, [...(all.get(from!) ?? []), to!]);
    return all;
  };

  it.each([
    ['none', ways('ab', 'bc', 'ac'), []],
    ['one', ways('ab', 'bc', 'ca', 'cd'), ['abc']],
    ['two that a way joins', ways('ab', 'ba', 'bc', 'cd', 'dc'), ['ab', 'cd']],
    ['two with a place in common', ways('ab', 'ba', 'bc', 'cb'), ['abc']],
  ])('are found: %s', (_what, given, expected) => {
    expect(
      knots(given)
        .map((knot) => [...knot].sort().join(''))
        .sort(),
    ).toEqual(expected);
  });

  it('are shown by the shortest way around', () => {
    const given = ways('ab', 'bc', 'cd', 'da', 'ca');
    expect(wayAround(given, ['a', 'b', 'c', 'd'])).toEqual(['a', 'b', 'c']);
  });

  it('are found on a way of 100 000 places', () => {
    const long = new Map(Array.from({ length: 100_000 }, (_, at) => [`${at}`, [`${(at + 1) % 100_000}`]]));
    expect(knots(long)).toHaveLength(1);
  });
});

describe('The graph of a doctor', () => {
  const { engine, one, other, operator } = useEngine('one', 'other', 'operator');

  it('shows a deadlock of two processes, and none once one has given up', async () => {
    const nested = (client: typeof one, outer: string, inner: string, waitMs: number) =>
      client.locks.withLock(outer, () => rejection(client.locks.acquire(inner, { waitMs })), { label: outer });
    const doctor = new LockDoctor(operator.locks);
    const inOne = nested(one, '/a', '/b', 3_000);
    const inOther = nested(other, '/b', '/a', 20_000);
    await engine.runFor(100);
    const { nodes, cycles } = await engine.settle(doctor.graph());
    const names = cycles.map((cycle) => cycle.map((id) => nodes.find((node) => node.id === id)!.name.split(',')[0]));
    expect(names.map((cycle) => [...cycle].sort())).toEqual([['/a', '/a', '/b', '/b']]);
    await engine.settle(inOne);
    expect((await engine.settle(doctor.graph())).cycles).toEqual([]);
    await engine.settle(inOther);
  });
});
