import type { SeenContender, SeenKey } from '../look/seen-key.js';
import { holdersOf } from '../look/lock-row.js';
import type { WaitGraphFacts } from '../wait-graph.js';
import type { CommandLines } from './command-lines.js';
import { breakLineOf } from './costliest.js';
import type { Weighed } from './weighed.js';

/** Callers that wait for each other, and will for ever unless one of them has a bound on its wait. */
export function deadlocks({ nodes, cycles }: WaitGraphFacts, keys: readonly SeenKey[], lines: CommandLines): Weighed[] {
  if (cycles.length === 0) return [];
  const byId = new Map(nodes.map((node) => [node.id, node]));
  return cycles.map((cycle) => {
    const steps = cycle.map((id) => byId.get(id)!);
    const first = steps.findIndex(({ kind }) => kind === 'owner');
    const inOrder = [...steps.slice(first), ...steps.slice(0, first)];
    const waits = inOrder.flatMap(({ kind, name }, at) =>
      kind === 'owner' ? [`${name} waits for ${inOrder[at + 1]?.name ?? 'a lock'}`] : [],
    );
    const names = new Set(inOrder.filter(({ kind }) => kind === 'key').map(({ name }) => name));
    const inCycle = keys.filter(({ key }) => names.has(key));
    return {
      kind: 'deadlock',
      severity: 'critical',
      key: inCycle[0]?.key,
      text: `${waits.length} callers wait for each other: ${waits.join(', which is held by the next one; ')}, which is held by the first one.`,
      advice: `Break one of the locks, such as that of the holder that asked last: ${youngest(inCycle, cycle, lines) ?? ''}. Then let all of this code acquire its locks in one order, or all at once (acquireAll, transaction).`,
      weight: waits.length,
    };
  });
}

function youngest(keys: readonly SeenKey[], cycle: readonly string[], lines: CommandLines): string | undefined {
  const held = keys.flatMap((seen) =>
    holdersOf(seen.contenders)
      .filter(({ snapshot: { client, nodePath } }) =>
        cycle.includes(client === undefined ? `node ${nodePath}` : `owner ${client.owner}`),
      )
      .map((holder): readonly [SeenKey, SeenContender] => [seen, holder]),
  );
  const [found] = held.sort(([, one], [, other]) => one.snapshot.ageMs - other.snapshot.ageMs);
  return found && breakLineOf(lines, ...found);
}
