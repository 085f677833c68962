import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { FenceToken, RequireFence, WithoutFence } from '../../../../lib/fencing/http/fence.decorators.js';
import { InjectLockTesting } from '../../../../lib/extras/testing/distributed-lock-testing.module.js';
import { LockConfigurationError } from '../../../../lib/lock/errors.js';
import { InjectLock } from '../../../../lib/nest/lock-service-token.js';
import { Locked } from '../../../../lib/nest/locked/locked.decorator.js';
import { CurrentLock, Fence, LockKey } from '../../../../lib/nest/locked/parameter.decorators.js';

/** As code without types may write them. */
type Bare = ParameterDecorator & PropertyDecorator & MethodDecorator & ClassDecorator;

const DECORATORS: readonly [string, Bare, string][] = [
  ['@Fence', Fence as unknown as Bare, 'it would fill nothing. Write @Fence()'],
  ['@CurrentLock', CurrentLock as unknown as Bare, 'it would fill nothing. Write @CurrentLock()'],
  [
    '@LockKey',
    LockKey as unknown as Bare,
    "it would bind nothing. Write @LockKey('id'), with the name of a placeholder",
  ],
  [
    '@InjectLock',
    InjectLock as unknown as Bare,
    "it would inject nothing. Write @InjectLock(), or @InjectLock('orders')",
  ],
  [
    '@InjectLockTesting',
    InjectLockTesting as unknown as Bare,
    "it would inject nothing. Write @InjectLockTesting(), or @InjectLockTesting('orders')",
  ],
  ['@FenceToken', FenceToken as unknown as Bare, 'it would fill nothing. Write @FenceToken()'],
  [
    '@RequireFence',
    RequireFence as unknown as Bare,
    "it would let in whoever asks. Write @RequireFence('/locks/orders/:id')",
  ],
  ['@WithoutFence', WithoutFence as unknown as Bare, 'it would lift nothing. Write @WithoutFence()'],
];

describe.each(DECORATORS)('%s without parentheses, which JavaScript would ignore,', (name, Bare, cure) => {
  it.each<[string, () => unknown]>([
    [
      'before a parameter of Service.pay',
      () => {
        class Service {
          pay(id: string, @Bare filled?: unknown): unknown {
            return [id, filled];
          }
        }
        return Service;
      },
    ],
    [
      'before a parameter of Service.all',
      () => {
        class Service {
          static all(@Bare filled?: unknown): unknown {
            return filled;
          }
        }
        return Service;
      },
    ],
    [
      'before a parameter of the constructor of Service',
      () => {
        class Service {
          constructor(@Bare readonly filled: unknown) {}
        }
        return Service;
      },
    ],
    [
      'above Service.member',
      () => {
        class Service {
          @Bare
          member: unknown;
        }
        return Service;
      },
    ],
    [
      'above the class Service',
      () => {
        @Bare
        class Service {}
        return Service;
      },
    ],
  ])('is refused while the class is being defined: %s', (where, define) => {
    expect(define).toThrow(LockConfigurationError);
    expect(define).toThrow(`${name} ${where} has no parentheses, so ${cure}`);
  });
});

describe('What has its parentheses is not taken for a decorator without them', () => {
  it('a decorator with a wrong second argument is not taken for one without parentheses', () => {
    expect(() => LockKey('id', 'order.id' as unknown as () => string)).toThrow('pick must be a function');
    expect(() => (Locked as unknown as (...args: unknown[]) => void)('/locks/a', 'read')).not.toThrow();
  });

  it('a decorator with a name, and with or without a function behind it, is not taken for one without parentheses', () => {
    expect(() => LockKey('id', () => 'order')).not.toThrow();
    expect(() => InjectLock('orders')).not.toThrow();
  });
});
