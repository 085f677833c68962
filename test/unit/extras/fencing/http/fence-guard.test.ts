import { describe, expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { FenceGuard } from '../../../../../lib/extras/fencing/http/fence.guard.js';
import { MemoryFencingMarks } from '../../../../../lib/extras/fencing/http/memory-fencing-marks.js';
import { RequireFence } from '../../../../../lib/extras/fencing/http/require-fence.decorator.js';
import { LockConfigurationError } from '../../../../../lib/lock/errors.js';

class Orders {
  @RequireFence('/locks/:id')
  save(): void {}

  @RequireFence('/locks/:id', { maxAgeMs: 1_000 })
  saveFresh(): void {}

  list(): void {}
}

function ask(method: keyof Orders, type: string, token = '7'): Promise<boolean> {
  const request = { headers: { 'fencing-token': token }, params: { id: '1' } };
  const context = {
    getHandler: () => Object.getOwnPropertyDescriptor(Orders.prototype, method)?.value as object,
    getClass: () => Orders,
    getType: () => type,
    switchToHttp: () => ({ getRequest: () => request }),
  };
  const guard = new FenceGuard({ marks: new MemoryFencingMarks(), keys: undefined, rules: {} });
  return guard.canActivate(context as unknown as ExecutionContext);
}

describe('the guard of @RequireFence', () => {
  it('lets nobody in who has no header, as messages have none', async () => {
    expect(await ask('save', 'http')).toBe(true);
    for (const type of ['rpc', 'ws', 'graphql']) {
      await expect(ask('save', type)).rejects.toThrow(LockConfigurationError);
      await expect(ask('save', type)).rejects.toThrow(
        `on Orders.save: it reads a header of HTTP, and this is a call of ${type}`,
      );
    }
  });

  it('lets nobody in where it was put by itself', async () => {
    await expect(ask('list', 'http')).rejects.toThrow('is put in place by @RequireFence(path), not by itself');
  });

  it('lets nobody in by a rule that only signed tokens can keep', async () => {
    await expect(ask('saveFresh', 'http')).rejects.toThrow('Orders.saveFresh: maxAgeMs: only signed tokens have it');
  });
});
