import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../support/process/eventually.js';
import { type NodeChild, ofType, startNodeChild } from '../../support/process/node-child.js';
import { clearWorkspace, makeWorkspace } from '../../support/zookeeper/workspace.js';
import { type StandaloneServer, startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';

const SELLERS = 4;
/** Of the one that will die, and of those that must not lose anything however long the machine stands still. */
const [VICTIM_SESSION_MS, SESSION_MS] = [3_000, 10_000];

/** Several servers sell from one stock, kept in a store without transactions. */
describe('an inventory', () => {
  let server: StandaloneServer;
  let folder: string;
  let stockPath: string;
  let ledgerPath: string;
  let sellers: NodeChild[];
  beforeAll(async () => {
    server = await startZooKeeper({ tickTimeMs: 500 });
    folder = await makeWorkspace();
    stockPath = join(folder, 'stock');
    ledgerPath = join(folder, 'ledger');
    const script = new URL('./seller-script.ts', import.meta.url);
    sellers = await Promise.all(
      Array.from({ length: SELLERS }, (_, index) => {
        const sessionMs = index === 0 ? VICTIM_SESSION_MS : SESSION_MS;
        return startNodeChild(script, { args: [server.connect, stockPath, ledgerPath, `${sessionMs}`] });
      }),
    );
    await Promise.all(sellers.map((seller) => seller.next('open', ofType('open'), 30_000)));
  }, 60_000);
  afterAll(async () => {
    await Promise.all((sellers ?? []).map((seller) => seller.kill()));
    await clearWorkspace(folder, []);
    await server?.stop();
  });
  beforeEach(() => writeFile(ledgerPath, ''));

  const fill = (items: number): Promise<void> => writeFile(stockPath, String(items));
  const stock = async (): Promise<number> => Number(await readFile(stockPath, 'utf8'));
  const sold = async (): Promise<number> => (await readFile(ledgerPath, 'utf8')).split('\n').length - 1;
  const isSold = async (seller: NodeChild): Promise<unknown> => (await seller.next('done', ofType('done')))['isSold'];
  const queueOf = (count: number): Promise<true> =>
    eventually(`${count} in the queue`, async () => {
      const { ephemerals } = await server.dump();
      return [...ephemerals.values()].flat().filter((path) => path.startsWith('/inventory/')).length === count;
    });

  it('is oversold without a lock: the last item goes to two', async () => {
    const [first, second] = sellers as [NodeChild, NodeChild];
    await fill(1);
    first.send('sell slowly without the lock');
    await first.next('in the middle', ofType('in the middle'));
    second.send('sell without the lock');
    expect(await isSold(second)).toBe(true);
    first.send('go on');
    expect(await isSold(first)).toBe(true);

    expect([await stock(), await sold()]).toEqual([0, 2]);
  });

  it('is not oversold under the lock: the second waits for the first, and finds it sold out', async () => {
    const [first, second] = sellers as [NodeChild, NodeChild];
    await fill(1);
    first.send('sell slowly');
    await first.next('in the middle', ofType('in the middle'));
    second.send('sell');
    await queueOf(2);
    first.send('go on');

    expect([await isSold(first), await isSold(second)]).toEqual([true, false]);
    expect([await stock(), await sold()]).toEqual([0, 1]);
  });

  it('has its 200 items sold by four processes at once, to the last, and none twice', async () => {
    await fill(200);
    for (const seller of sellers) seller.send('sell all');
    const reports = await Promise.all(sellers.map((seller) => seller.next('sold out', ofType('sold out'), 25_000)));

    const counts = reports.map((report) => Number(report['sold']));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(200);
    expect(Math.min(...counts)).toBeGreaterThan(0);
    expect([await stock(), await sold()]).toEqual([0, 200]);
  });

  it('is not oversold, and not closed, when a seller dies in the middle of a sale', async () => {
    const [victim, ...others] = sellers as [NodeChild, ...NodeChild[]];
    await fill(20);
    victim.send('sell slowly');
    await victim.next('in the middle', ofType('in the middle'));
    for (const seller of others) seller.send('sell all');
    await queueOf(SELLERS);
    await victim.kill();
    const reports = await Promise.all(others.map((seller) => seller.next('sold out', ofType('sold out'), 20_000)));

    expect(reports.reduce((sum, report) => sum + Number(report['sold']), 0)).toBe(20);
    expect([await stock(), await sold()]).toEqual([0, 20]);
  });
});
