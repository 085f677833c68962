import { ConflictException, Inject, Injectable } from '@nestjs/common';
import { CurrentLock, injected, Locked, type LockHandle, LockKey } from 'nestjs-zookeeper-lock';
import { FencedFileStore } from 'nestjs-zookeeper-lock/fencing';

/** What a shelf holds before anybody has counted it. */
export const INITIAL_STOCK = 20;

/**
 * Read, compare, write: without the lock two buyers would get the last piece, and without `update()` so could one whose
 * lock was lost in between.
 */
@Injectable()
export class InventoryService {
  constructor(@Inject(FencedFileStore) private readonly store: FencedFileStore) {}

  @Locked('/locks/inventory/:sku')
  async deduct(
    @LockKey('sku') sku: string,
    quantity: number,
    @CurrentLock() lock: LockHandle = injected(),
  ): Promise<number> {
    let left = 0;
    await this.store.update(resourceOf(sku), lock, (content) => {
      const stock = stockIn(content);
      if (stock < quantity) throw new ConflictException(`Only ${stock} of ${sku} left, ${quantity} asked for`);
      left = stock - quantity;
      return String(left);
    });
    return left;
  }

  @Locked('/locks/inventory/:sku')
  async set(
    @LockKey('sku') sku: string,
    quantity: number,
    @CurrentLock() lock: LockHandle = injected(),
  ): Promise<number> {
    await this.store.write(resourceOf(sku), String(quantity), lock);
    return quantity;
  }

  @Locked('/locks/inventory/:sku', { mode: 'read' })
  async stock(@LockKey('sku') sku: string): Promise<number> {
    return stockIn((await this.store.read(resourceOf(sku)))?.content);
  }
}

function resourceOf(sku: string): string {
  return `inventory/${sku}`;
}

function stockIn(content: Buffer | undefined): number {
  return content === undefined ? INITIAL_STOCK : Number(content.toString());
}
