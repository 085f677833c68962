import {
  type WaitGraph,
  waitGraph,
  type WaitGraphEdge,
  type WaitGraphNode,
} from '../../../lib/extras/doctor/wait-graph.js';
import { madeUpContender } from './made-up-locks.js';

interface MadeUpQueue {
  readonly key: string;
  readonly holder: string;
  readonly waiters: readonly string[];
}

/** A graph of queues: who holds each key, and who waits for it. An owner is told by its label. */
export function madeUpGraph(queues: readonly MadeUpQueue[], cycles: readonly (readonly string[])[] = []): WaitGraph {
  const nodes = new Map<string, WaitGraphNode>();
  const owner = (label: string): string => {
    const host = `${label.split(/[.#]/)[0]!.toLowerCase()}-5c8b9d-x2k4p`;
    const { client } = madeUpContender('/', { label: label.split('#')[0]!, host, pid: 1 });
    nodes.set(label, { id: label, kind: 'owner', name: `${label} on ${host}`, client });
    return label;
  };
  const edges = queues.flatMap(({ key, holder, waiters }): WaitGraphEdge[] => {
    nodes.set(key, { id: key, kind: 'key', name: key });
    const waits = waiters.map((label): WaitGraphEdge => ({ from: owner(label), to: key, kind: 'waits for' }));
    return [...waits, { from: key, to: owner(holder), kind: 'held by' }];
  });
  return waitGraph({ nodes: [...nodes.values()], edges, cycles });
}

/** What a shop may look like at a bad moment: a deadlock, and a queue behind it. */
export function graphOfShop(): WaitGraph {
  const clerks = Array.from({ length: 9 }, (_, index) => `Stock.reserve#${index}`);
  return madeUpGraph(
    [
      {
        key: '/locks/accounts/41970/settle',
        holder: 'Transfers.book',
        waiters: ['Statements.run', 'Accounts.settle', 'Accounts.close'],
      },
      { key: '/locks/accounts/88213/settle', holder: 'Statements.run', waiters: ['Transfers.book'] },
      { key: '/locks/inventory/A-7781', holder: 'Inventory.count', waiters: clerks },
      { key: '/locks/orders/20417', holder: 'Orders.capture', waiters: ['Shipments.dispatch', 'Orders.cancel'] },
      { key: '/locks/shipments/5523', holder: 'Shipments.dispatch', waiters: ['Shipments.label'] },
    ],
    [['Transfers.book', '/locks/accounts/88213/settle', 'Statements.run', '/locks/accounts/41970/settle']],
  );
}
