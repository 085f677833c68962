import type { DistributedLockOptions } from '../../../lib/options.js';
import { type NodeChild, ofType, startNodeChild } from '../process/node-child.js';
import type { Answer, Order } from './locking-process.js';

/** A process that locks as whom its environment says it is. */
export class Locker {
  constructor(private readonly child: NodeChild) {}

  async tell(order: Order): Promise<Answer> {
    this.child.send(order);
    return (await this.child.next(`answer to ${order.do}`, ofType('answer'))) as unknown as Answer;
  }

  async start(options: DistributedLockOptions): Promise<Answer> {
    return this.tell({ do: 'start', options });
  }

  output(): string {
    return this.child.output();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.child.kill();
  }
}

export async function startLocker(env: Readonly<Record<string, string>>): Promise<Locker> {
  return new Locker(await startNodeChild(new URL('./locking-process.ts', import.meta.url), { env }));
}
