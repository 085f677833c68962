import { describe, expect, it } from '@jest/globals';
import { InvalidLockKeyError, LockConfigurationError } from '../../../../lib/lock/errors.js';
import { lockKey } from '../../../../lib/nest/locked/key-template.js';
import { Locked } from '../../../../lib/nest/locked/locked.decorator.js';
import { LockKey } from '../../../../lib/nest/locked/parameter.decorators.js';
import { RecordingService } from './recording-service.js';
import { telling } from '../../../support/telling.js';

class Orders {
  @Locked('/locks/:tenant/orders/:id')
  async ship(@LockKey('tenant') tenant: string, @LockKey('id') id: string | number | bigint): Promise<void> {
    await Promise.resolve([tenant, id]);
  }
}

describe('lockKey', () => {
  it('takes the integers that a number can tell apart, and larger ones as bigint', () => {
    const id = 2 ** 53;
    expect(lockKey('/locks/:id', { id: id - 1 })).toBe('/locks/9007199254740991');
    expect(lockKey('/locks/:id', { id: BigInt(id) + 1n })).toBe('/locks/9007199254740993');
    expect(() => lockKey('/locks/:id', { id })).toThrow(InvalidLockKeyError);
  });

  it.each<[string, string | number | bigint]>([
    ['acme', 42],
    ['a/b', '../x'],
    ['..', 9007199254740993n],
    ['größe', 'with space'],
  ])('is the key that @Locked takes: %p, %p', async (tenant, id) => {
    const orders = new Orders();
    const service = RecordingService.in(orders);
    await orders.ship(tenant, id);

    expect(lockKey('/locks/:tenant/orders/:id', { tenant, id })).toBe(service.keys[0]);
  });

  it('refuses values that are missing, and paths that can be no key', () => {
    expect(() => lockKey('/locks/:id', { id: '' })).toThrow(InvalidLockKeyError);
    // @ts-expect-error a placeholder without a value does not compile
    expect(() => lockKey('/locks/:id', {})).toThrow(telling('needs a value for ":id"'));
    // @ts-expect-error a relative path does not compile
    const relative = (): string => lockKey('locks/:id', { id: 1 });
    expect(relative).toThrow(LockConfigurationError);
    expect(relative).toThrow(/^lockKey\("locks\/:id"\): /);
  });

  it('takes values by name where the path is not known to the compiler', () => {
    const path: string = '/a/:b';
    expect(lockKey(path, { b: 'c' })).toBe('/a/c');
  });
});
