import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Param, Query } from '@nestjs/common';
import { LockConfigurationError } from '../../../../lib/lock/errors.js';
import { LockHandle } from '../../../../lib/lock/handle.js';
import { Locked } from '../../../../lib/nest/locked/locked.decorator.js';
import { CurrentLock, Fence, LockKey } from '../../../../lib/nest/locked/parameter.decorators.js';

interface Shape {
  readonly id: string;
}

class Order implements Shape {
  readonly id: string = '';
}

abstract class OwnHandle {
  abstract readonly key: string;
}

enum Size {
  small,
}

type AnyMethod = (argument: never) => Promise<unknown>;

/** As the compiler calls decorators, with what it leaves of the types: also with types that it would not let pass. */
function define(
  path: string,
  method: AnyMethod,
  types: readonly unknown[],
  ...parameters: ParameterDecorator[]
): () => void {
  return () => {
    class Service {}
    const { prototype } = Service;
    Reflect.defineMetadata('design:paramtypes', types, prototype, 'run');
    parameters.forEach((decorate, index) => decorate(prototype, 'run', index));
    (Locked(path) as MethodDecorator)(prototype, 'run', { value: method });
  };
}

describe('a parameter whose declared type no value of a key can have is refused while the class is being defined:', () => {
  it.each<[string, unknown]>([
    ['Date', Date],
    ['Array', Array],
    ['Boolean', Boolean],
    ['Promise', Promise],
    ['Order', Order],
    ['a class', class {}],
  ])('it is %s, bound by name', (shown, type) => {
    const act = define('/locks/:when', async (when: unknown) => when, [type]);

    expect(act).toThrow(LockConfigurationError);
    expect(act).toThrow(
      `@Locked('/locks/:when') on Service.run: placeholder ":when" binds to param when, whose type is ${shown}: a key takes a ` +
        "string, a number or a bigint. Choose a part of it: @LockKey('when', (when) => ...)",
    );
  });

  it('it is bound by @LockKey, and by the route', () => {
    expect(define('/locks/:id', async (a: unknown) => a, [Array], LockKey('id'))).toThrow(
      '":id" binds to key id, whose type is Array',
    );
    expect(define('/locks/:id', async (a: unknown) => a, [Date], Param('id'))).toThrow(
      '":id" binds to route id, whose type is Date',
    );
    expect(define('/locks/:ids', async (a: unknown) => a, [Array], Query('ids'))).toThrow(
      '":ids" binds to route ids, whose type is Array',
    );
  });

  it('the compiler writes it so', () => {
    const act = (): unknown => {
      class Service {
        @Locked('/locks/:when')
        async run(when: Date): Promise<void> {
          await Promise.resolve(when);
        }
      }
      return Service;
    };
    expect(act).toThrow('placeholder ":when" binds to param when, whose type is Date');
  });

  it.each<[string, unknown]>([
    ['a string', String],
    ['a number', Number],
    ['a bigint', BigInt],
    ['a union, or an interface', Object],
    ['a class that was imported as a type', Function],
    ['an enumeration of another file, which is an object', Size],
    ['an alias with a function of its name, as branded types have', (raw: string): string => raw],
    [
      'an alias with a function of its name, declared as one',
      function OrderId(raw: string): string {
        return raw;
      },
    ],
    ['nothing', undefined],
  ])('it may be %s', (_what, type) => {
    expect(define('/locks/:id', async (id: unknown) => id, [type], LockKey('id'))).not.toThrow();
  });

  it('it may be what an inherited method declared that an override does not', () => {
    class Base {
      async run(when: Date): Promise<Date> {
        return await Promise.resolve(when);
      }
    }
    class Override extends Base {
      override async run(when: unknown): Promise<Date> {
        return await Promise.resolve(when as Date);
      }
    }
    Reflect.defineMetadata('design:paramtypes', [Date], Base.prototype, 'run');
    const descriptor = Object.getOwnPropertyDescriptor(Override.prototype, 'run');

    expect(() => {
      (Locked('/locks/:when') as MethodDecorator)(Override.prototype, 'run', descriptor!);
    }).not.toThrow();
  });

  it('it may be one of which a part is bound', () => {
    expect(define('/locks/:order.id', async (order: unknown) => order, [Order])).not.toThrow();
    expect(define('/locks/:ids.0', async (ids: unknown) => ids, [Array])).not.toThrow();
    expect(
      define(
        '/locks/:id',
        async (order: unknown) => order,
        [Order],
        LockKey('id', (order: Shape) => order.id),
      ),
    ).not.toThrow();
  });
});

describe('a parameter that the lock fills', () => {
  it.each<[string, AnyMethod, ParameterDecorator, unknown]>([
    [
      '@Fence() fills parameter 0 with a bigint, and its type is Number. Write @Fence() token: bigint',
      async (token: unknown) => token,
      Fence(),
      Number,
    ],
    [
      '@Fence() fills parameter 0 with a bigint, and its type is String. Write @Fence() value: bigint',
      async ({ id }: Shape) => id,
      Fence(),
      String,
    ],
    [
      '@Fence() fills parameter 0 with a bigint, and its type is LockHandle',
      async (lock: unknown) => lock,
      Fence(),
      LockHandle,
    ],
    [
      '@CurrentLock() fills parameter 0 with a LockHandle, and its type is BigInt. Write @CurrentLock() lock: LockHandle',
      async (lock: unknown) => lock,
      CurrentLock(),
      BigInt,
    ],
    ...[String, Number, Boolean, Date, Array].map((type): [string, AnyMethod, ParameterDecorator, unknown] => [
      `@CurrentLock() fills parameter 0 with a LockHandle, and its type is ${type.name}`,
      async (lock: unknown) => lock,
      CurrentLock(),
      type,
    ]),
  ])('is refused with another type: %s', (text, method, decorator, type) => {
    const act = define('/locks/a', method, [type], decorator);

    expect(act).toThrow(LockConfigurationError);
    expect(act).toThrow(`@Locked('/locks/a') on Service.run: ${text}`);
  });

  it.each<[string, ParameterDecorator, unknown]>([
    ['bigint', Fence(), BigInt],
    ['a union', Fence(), Object],
    ['nothing', Fence(), undefined],
    ['LockHandle', CurrentLock(), LockHandle],
    ['a part of it', CurrentLock(), Object],
    ['LockHandle that was imported as a type', CurrentLock(), Function],
    ['LockHandle as a minifier calls it', CurrentLock(), class e {}],
    ["an application's own class that a handle fits", CurrentLock(), OwnHandle],
    ['an alias with a function of its name', Fence(), (raw: bigint): bigint => raw],
  ])('is taken with %s', (_what, decorator, type) => {
    expect(define('/locks/a', async (value: unknown) => value, [type], decorator)).not.toThrow();
  });

  it('is refused as the compiler writes it', () => {
    const act = (): unknown => {
      class Service {
        @Locked('/locks/a')
        // @ts-expect-error the type of the parameter
        async run(@Fence() token: number): Promise<void> {
          await Promise.resolve(token);
        }
      }
      return Service;
    };
    expect(act).toThrow(
      '@Fence() fills parameter 0 with a bigint, and its type is Number. Write @Fence() token: bigint',
    );
  });
});
