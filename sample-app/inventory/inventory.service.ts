import { ConflictException, Inject, Injectable } from '@nestjs/common';
import { Fence, injected, Locked, LockKey } from 'nestjs-zookeeper-lock';
import { FencedFiles } from '../files/fenced-files.js';

/** What a shelf holds before anybody has counted it. */
export const INITIAL_STOCK = 20;

/** Read, compare, write: without the lock two buyers would get the last piece. */
@Injectable()
export class InventoryService {
  constructor(@Inject(FencedFiles) private readonly files: FencedFiles) {}

  @Locked('/locks/inventory/:sku')
  async deduct(@LockKey('sku') sku: string, quantity: number, @Fence() token: bigint = injected()): Promise<number> {
    const stock = await this.#stock(sku);
    if (stock < quantity) throw new ConflictException(`Only ${stock} of ${sku} left, ${quantity} asked for`);
    await this.files.write('inventory', sku, String(stock - quantity), token);
    return stock - quantity;
  }

  @Locked('/locks/inventory/:sku')
  async set(@LockKey('sku') sku: string, quantity: number, @Fence() token: bigint = injected()): Promise<number> {
    await this.files.write('inventory', sku, String(quantity), token);
    return quantity;
  }

  @Locked('/locks/inventory/:sku', { mode: 'read' })
  async stock(@LockKey('sku') sku: string): Promise<number> {
    return this.#stock(sku);
  }

  async #stock(sku: string): Promise<number> {
    const file = await this.files.read('inventory', sku);
    return file === undefined ? INITIAL_STOCK : Number(file.content);
  }
}
