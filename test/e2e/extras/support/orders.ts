import { Injectable } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { LockTesting, provideLockTesting } from '../../../../lib/extras/testing/index.js';
import {
  CurrentLock,
  Fence,
  injected,
  Locked,
  LockHandle,
  LockKey,
  type LockLoss,
  LockService,
} from '../../../../lib/index.js';
import { Gate } from '../../support/gate.js';

/** The lock of order 42. */
export const KEY = '/orders/42';

/** The application under test. */
@Injectable()
export class Orders {
  readonly gate = new Gate();
  readonly shipped: string[] = [];

  @Locked('/orders/:id')
  async ship(@LockKey('id') id: string, @Fence() token: bigint = injected()): Promise<bigint> {
    this.shipped.push(id);
    return token;
  }

  @Locked('/orders/:id', { onLost: (loss: LockLoss) => void Orders.noted.push(loss) })
  async pack(@LockKey('id') id: string, @CurrentLock() lock: LockHandle = injected()): Promise<void> {
    await this.gate.pass();
    lock.assertHeld();
    this.shipped.push(id);
  }

  static noted: LockLoss[] = [];
}

export interface UnderTest extends AsyncDisposable {
  readonly orders: Orders;
  readonly testing: LockTesting;
  readonly locks: LockService;
}

export async function start(module: TestingModule, testing = module.get(LockTesting)): Promise<UnderTest> {
  await module.init();
  Orders.noted = [];
  return {
    orders: module.get(Orders, { strict: false }),
    testing,
    locks: module.get(LockService),
    [Symbol.asyncDispose]: () => module.close(),
  };
}

export async function bare(options?: Parameters<typeof provideLockTesting>[0]): Promise<UnderTest> {
  return start(await Test.createTestingModule({ providers: [Orders, ...provideLockTesting(options)] }).compile());
}
