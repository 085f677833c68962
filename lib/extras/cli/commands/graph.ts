import { visible } from '../../../lock/visible.js';
import type { WaitGraph, WaitGraphNode } from '../../doctor/wait-graph.js';
import type { Call, Command } from '../command.js';
import { EXIT, EXIT_TEXTS } from '../exit-codes.js';
import { dotOf } from '../dot.js';
import { scanOptions } from '../scanning.js';
import { withDoctor } from '../step.js';
import { UsageError } from '../usage-error.js';
import { wrapped } from '../words.js';

export const graph: Command = {
  name: 'graph',
  group: 'Look',
  operands: '[PREFIX]',
  operandCount: [0, 1],
  summary: 'who waits for whom, and deadlocks',
  about: [
    'Shows each lock that somebody waits for: who holds it, and who waits. Behind them are the deadlocks, which are callers that wait for ' +
      'each other.',
    'For Graphviz: zk-lock graph --dot | dot -Tsvg > waits.svg',
  ],
  flags: [{ name: 'dot', text: 'print it in the language of Graphviz' }],
  exitTexts: [EXIT_TEXTS[0]!, ['1', 'there is a deadlock'], ...EXIT_TEXTS.slice(2)],
  run: runGraph,
};

async function runGraph(call: Call): Promise<number> {
  const { terminal, flags } = call;
  if (flags.isSet('dot') && terminal.isJson) throw new UsageError('--dot or --json: the graph is printed once');
  const found = await withDoctor(call, (doctor) => doctor.graph(scanOptions(call)));
  if (terminal.isJson) terminal.printJson(found);
  else if (flags.isSet('dot')) terminal.print(...dotOf(found));
  else if (found.edges.some(({ kind }) => kind === 'waits for')) terminal.print(...graphLines(found, terminal.width));
  else terminal.tell('nobody waits for anybody');
  return found.cycles.length > 0 ? EXIT.no : EXIT.done;
}

function graphLines({ nodes, edges, cycles }: WaitGraph, width: number): string[] {
  const names = new Map(nodes.map(({ id, name }) => [id, visible(name)]));
  const named = (id: string): string => names.get(id) ?? visible(id);
  const keyLines = ({ id }: WaitGraphNode): string[] => {
    const holders = edges.filter(({ from, kind }) => from === id && kind === 'held by').map(({ to }) => named(to));
    const waiters = edges.filter(({ to, kind }) => to === id && kind === 'waits for').map(({ from }) => named(from));
    if (waiters.length === 0) return [];
    const held = holders.length === 0 ? ['  held by nobody'] : holders.map((name) => `  held by    ${name}`);
    return [named(id), ...held, ...waiters.map((name) => `  waited by  ${name}`)];
  };
  const deadlocks = cycles.flatMap((cycle) => {
    const steps = [...cycle, cycle[0]!].map(named);
    return ['', ...wrapped(`Deadlock: ${steps.join(' -> ')}`, width, '  ')];
  });
  return [...nodes.filter(({ kind }) => kind === 'key').flatMap(keyLines), ...deadlocks];
}
