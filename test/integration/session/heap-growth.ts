import { expect } from '@jest/globals';
import { ofType, startNodeChild } from '../../support/process/node-child.js';
import { startZooKeeper } from '../../support/zookeeper/start-zookeeper.js';

/** @returns how many bytes the heap of a process has grown by, over so many create + list + delete cycles */
export async function heapGrowth(cycles: number, withinMs: number): Promise<number> {
  await using server = await startZooKeeper({ tickTimeMs: 2_000 });
  const script = new URL('./heap-script.ts', import.meta.url);
  await using child = await startNodeChild(script, {
    args: [`${server.port}`, `${cycles}`],
    nodeFlags: ['--expose-gc'],
  });
  const grown = await child.next('grown', ofType('grown'), withinMs);
  expect(grown['state']).toBe('connected');
  return Number(grown['bytes']);
}
