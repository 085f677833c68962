import { describe, expect, it } from '@jest/globals';
import { drawing } from '../../../../lib/extras/dashboard/graph/drawing.js';
import { excerptOf } from '../../../../lib/extras/dashboard/graph/excerpt.js';
import { layOut, loadDagre, type PlacedNode } from '../../../../lib/extras/dashboard/graph/layout.js';
import { graphPage } from '../../../../lib/extras/dashboard/pages/graph-page.js';
import { graphOfShop, madeUpGraph } from '../../../support/dashboard/made-up-graph.js';

const HOSTILE = `/locks/<script>alert("x")</script>'\u202e`;

function overlap(one: PlacedNode, other: PlacedNode): boolean {
  const isBeside = Math.abs(one.x - other.x) >= (one.width + other.width) / 2;
  return !isBeside && Math.abs(one.y - other.y) < (one.height + other.height) / 2;
}

describe('The drawing of who waits for whom', () => {
  it('has a place for every box, none on another and all within its size', async () => {
    const { nodes, edges, width, height } = layOut(await loadDagre(), excerptOf(graphOfShop()));
    expect(nodes.length).toBeGreaterThan(15);
    for (const [index, one] of nodes.entries()) {
      expect(nodes.slice(index + 1).filter((other) => overlap(one, other))).toEqual([]);
      expect(one.x - one.width / 2).toBeGreaterThanOrEqual(0);
      expect(one.x + one.width / 2).toBeLessThanOrEqual(width);
      expect(one.y + one.height / 2).toBeLessThanOrEqual(height);
    }
    expect(edges.every(({ points }) => points.length >= 2)).toBe(true);
  });

  it('leads from left to right: from who waits to the lock, and on to its holder', async () => {
    const graph = madeUpGraph([{ key: '/k', holder: 'Holder', waiters: ['Waiter'] }]);
    const { nodes } = layOut(await loadDagre(), excerptOf(graph));
    const x = (id: string): number => nodes.find((node) => node.id === id)!.x;
    expect(x('Waiter')).toBeLessThan(x('/k'));
    expect(x('/k')).toBeLessThan(x('Holder'));
  });

  it('marks a deadlock, and nothing else', () => {
    const { nodes, edges } = excerptOf(graphOfShop());
    const inCycle = nodes.filter(({ isInCycle }) => isInCycle).map(({ id }) => id);
    expect(inCycle.sort()).toEqual([
      '/locks/accounts/41970/settle',
      '/locks/accounts/88213/settle',
      'Statements.run',
      'Transfers.book',
    ]);
    expect(edges.filter(({ isInCycle }) => isInCycle)).toHaveLength(4);
  });

  it('shows ten thousand callers in a few boxes, and names what it leaves out', async () => {
    const queues = Array.from({ length: 200 }, (_, index) => ({
      key: `/locks/${index}`,
      holder: `Holder#${index}`,
      waiters: Array.from({ length: index === 150 ? 10_000 : 2 }, (__, waiter) => `W${index}#${waiter}`),
    }));
    const cycle = ['Holder#199', '/locks/198', 'Holder#198', '/locks/199'];
    const excerpt = excerptOf(madeUpGraph(queues, [cycle]));
    const drawn = excerpt.nodes.map(({ id }) => id);
    expect(drawn.length).toBeLessThan(100);
    expect(drawn).toEqual(expect.arrayContaining(cycle));
    expect(drawn).toContain('/locks/150');
    expect(excerpt.nodes.find(({ kind }) => kind === 'crowd')?.lines).toEqual(['and 9\u00a0995 more']);
    expect(excerpt.leftOut).toBe(200 - drawn.filter((id) => id.startsWith('/')).length);
    expect(layOut(await loadDagre(), excerpt).nodes).toHaveLength(drawn.length);
  });

  it('escapes what somebody has written into ZooKeeper', async () => {
    const graph = madeUpGraph([
      { key: HOSTILE, holder: '<img src=x onerror=alert(1)>', waiters: ['"><svg onload=x>'] },
    ]);
    const { text } = drawing(layOut(await loadDagre(), excerptOf(graph)), 'Drawn');
    for (const page of [text, await graphPage(graph)]) {
      expect(page).not.toMatch(/<script>|<img|<svg onload|\u202e/);
      expect(page).toContain('&lt;script&gt;');
    }
  });
});

describe('Without the package @dagrejs/dagre', () => {
  const missing = (): Promise<never> => Promise.reject(new Error(`Cannot find package '@dagrejs/dagre'`));

  it('says what to install', async () => {
    await expect(loadDagre(missing)).rejects.toMatchObject({
      code: 'LOCK_CONFIGURATION',
      details: expect.stringContaining('npm install @dagrejs/dagre'),
    });
  });

  it('the page has its table all the same', async () => {
    const page = await graphPage(graphOfShop(), undefined, () => loadDagre(missing));
    expect(page).toContain('npm install @dagrejs/dagre');
    expect(page).not.toContain('class="graph');
    expect(page).toContain('Shipments.label');
    expect(page).toContain('Deadlock');
  });
});
