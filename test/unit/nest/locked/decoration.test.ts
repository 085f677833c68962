import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { applyDecorators, Header, SetMetadata } from '@nestjs/common';
import { LockConfigurationError } from '../../../../lib/lock/errors.js';
import { Locked } from '../../../../lib/nest/locked/locked.decorator.js';
import { CurrentLock, Fence, injected, LockKey } from '../../../../lib/nest/locked/parameter.decorators.js';

type Decorate = (target: object, name: string, descriptor: unknown) => void;

/** As code without types would call it. */
function decorate(target: object, name: string, descriptor: unknown, options: object = {}): () => void {
  return () =>
    (Locked as unknown as (path: string, options: object) => Decorate)('/locks/a', options)(target, name, descriptor);
}

describe('@Locked without a path', () => {
  it.each([undefined, null, 5])('(%p) names the method', (path) => {
    const locked = Locked as unknown as (path: unknown) => Decorate;
    class Service {
      async method(): Promise<void> {
        await Promise.resolve();
      }
    }
    const descriptor = Object.getOwnPropertyDescriptor(Service.prototype, 'method');
    const define = (): void => locked(path)(Service.prototype, 'method', descriptor);

    expect(define).toThrow(LockConfigurationError);
    expect(define).toThrow(`@Locked(${String(path)}) on Service.method: the first argument must be a path such as`);
  });
});

describe('@Locked without parentheses, which in JavaScript would leave the method without a lock,', () => {
  const Bare = Locked as unknown as MethodDecorator & ClassDecorator & ((...args: unknown[]) => void);

  it.each([
    [
      'Service.pay',
      (): unknown => {
        class Service {
          @Bare
          async pay(): Promise<void> {}
        }
        return Service;
      },
    ],
    [
      'Service.all',
      (): unknown => {
        class Service {
          @Bare
          static async all(): Promise<void> {}
        }
        return Service;
      },
    ],
    [
      'Service.handler',
      (): unknown => {
        class Service {
          @Bare
          handler = async (): Promise<void> => undefined;
        }
        return Service;
      },
    ],
    [
      'the class Service',
      (): unknown => {
        @Bare
        class Service {}
        return Service;
      },
    ],
    [
      'pay',
      (): unknown => Bare(async () => undefined, { kind: 'method', name: 'pay', addInitializer: () => undefined }),
    ],
  ])('is refused while the class is being defined: %s', (what, define) => {
    expect(define).toThrow(LockConfigurationError);
    expect(define).toThrow(
      `@Locked above ${what} has no parentheses, so it has no path and would lock nothing. Write @Locked('`,
    );
  });

  it('is not what a function in place of the path, with or without options, is taken for', () => {
    expect(() => Locked(() => '/a')).not.toThrow();
    expect(() =>
      Locked(
        function (this: object) {
          return '/a';
        },
        { mode: 'read' },
      ),
    ).not.toThrow();
  });
});

describe('@Locked replaces the method when the class is being defined', () => {
  it('keeps its name, its length and what other code has put on it', () => {
    const Mark = (_target: object, _name: string | symbol, descriptor: PropertyDescriptor): void => {
      Object.assign(descriptor.value as object, { mark: 1 });
    };
    class Service {
      @Locked('/locks/a')
      @Mark
      async method(one: string, two: string): Promise<string> {
        return one + two;
      }
    }

    const method = Reflect.get(Service.prototype, 'method');
    expect(method.name).toBe('method');
    expect(method.length).toBe(2);
    expect(method).toHaveProperty('mark', 1);
  });

  it('leaves all metadata there, from decorators above, below and on both sides', () => {
    class Service {
      @SetMetadata('above', 1)
      @Locked('/locks/a')
      @SetMetadata('below', 2)
      @Header('X', 'y')
      async method(): Promise<void> {}
    }

    const method = Reflect.get(Service.prototype, 'method');
    const keys = Reflect.getMetadataKeys(method) as unknown[];
    expect(keys).toEqual(expect.arrayContaining(['above', 'below', '__headers__']));
    expect(Reflect.getMetadata('below', method)).toBe(2);
  });

  it('works inside applyDecorators, which drops what decorators return', () => {
    const original = async function method(): Promise<void> {};
    const descriptor = { value: original };

    applyDecorators(Locked('/locks/a') as MethodDecorator)(class {}.prototype, 'method', descriptor);

    expect(descriptor.value).not.toBe(original);
  });

  it('puts no enumerable key on instances', () => {
    class Service {
      @Locked('/locks/a')
      async method(): Promise<void> {}
    }

    expect(Reflect.ownKeys(new Service())).toEqual([]);
  });
});

describe('@Locked, while the class is being defined,', () => {
  it('refuses a static method', () => {
    class Service {}
    expect(decorate(Service, 'm', { value: () => undefined })).toThrow(
      /^@Locked\('\/locks\/a'\) on Service.m: a static method/,
    );
  });

  it('refuses an accessor', () => {
    class Service {}
    expect(decorate(Service.prototype, 'm', { get: () => 1 })).toThrow('an accessor cannot wait for a lock');
  });

  it('refuses a class, and what a compiler made of it that knows standard decorators only', () => {
    class Service {}
    const locked = Locked('/locks/a') as unknown as (...args: unknown[]) => void;
    expect(() => locked(Service)).toThrow(/on Service: it stands above a class: write it above each of its methods/);
    expect(() => locked(async () => undefined, { kind: 'method', name: 'run' })).toThrow(
      /on run: was compiled as a standard decorator; Nest's need experimentalDecorators: true/,
    );
  });

  it('refuses a generator that is not async', () => {
    class Service {}
    const value = function* (): Generator<string> {
      yield 'x';
    };
    expect(decorate(Service.prototype, 'm', { value })).toThrow('a generator cannot wait for a lock');
  });

  it('refuses a property that holds an arrow function', () => {
    class Service {}
    expect(decorate(Service.prototype, 'm', undefined)).toThrow(/a property is not a method.*async name\(\)/);
  });

  it.each([
    [
      { waitMS: 5 },
      'waitMS: is not an option (the options are: mode, waitMs, leaseMs, reentrant, maxWaiting, atLeastMs, onAbandoned, label, template, name, keys,',
    ],
    [{ waitMs: -1 }, 'waitMs: must be a number of milliseconds'],
    [{ mode: 'shared' }, 'mode: must be one of'],
    [{ signal: AbortSignal.abort() }, 'signal: is for one call'],
    [{ recover: () => undefined }, 'recover: is for one call. A method has @Recover'],
    [{ onAbandoned: 'retry' }, 'onAbandoned: must be one of enter, delay, recover, hold'],
    [{ onAbandoned: 'recover', mode: 'read' }, "onAbandoned: 'recover' is for exclusive and write"],
    [{ atLeastMs: 5, mode: 'read' }, 'atLeastMs: is for exclusive and write'],
    [{ name: '' }, 'name: must be a non-empty string'],
    [{ onBusy: 'wait' }, 'onBusy: must be throw, skip or a function of the error, not "wait"'],
    [{ onLost: 1 }, 'onLost: must be a function'],
    [{ keys: {} }, 'keys: must be a function'],
    [{ returns: 'stream' }, 'returns: must be one of promise, observable, async-iterable, not "stream"'],
    [{ paramNames: 'no' }, 'paramNames: must be true or false'],
    [
      { subscribeWithinMs: 2 ** 31 },
      'subscribeWithinMs: must be a number of milliseconds above 0 and at most 2147483647',
    ],
    [{ subscribeWithinMs: '5' }, 'subscribeWithinMs: must be a number of milliseconds above 0'],
    [{ subscribeWithinMs: 0 }, 'subscribeWithinMs: must be a number of milliseconds above 0'],
  ])('refuses the options %p', (options, message) => {
    class Service {}
    const act = decorate(Service.prototype, 'm', { value: async () => undefined }, options);
    expect(act).toThrow(LockConfigurationError);
    expect(act).toThrow(message);
  });

  it('refuses keys beside a function that computes the whole key', () => {
    const act = (): unknown =>
      (Locked as unknown as (path: unknown, options: object) => Decorate)(() => '/a', { keys: () => ({}) })({}, 'm', {
        value: async () => undefined,
      });
    expect(act).toThrow('the function computes the whole key');
  });

  it("refuses onAbandoned: 'recover' beside a function that computes the key: nothing would tell its @Recover", () => {
    const act = (): unknown =>
      Locked(() => '/a', { onAbandoned: 'recover' })({}, 'm', { value: async () => undefined });
    expect(act).toThrow("onAbandoned: 'recover' finds its @Recover by the path");
  });
});

describe('@LockKey, @Fence and @CurrentLock', () => {
  it.each([
    ['@Fence()', Fence()],
    ['@CurrentLock()', CurrentLock()],
    [`@LockKey('id')`, LockKey('id')],
  ])('refuse to stand as %s on a constructor or a static method', (shown, decorator) => {
    class Service {}
    expect(() => decorator(Service, undefined, 0)).toThrow(
      `${shown} is for parameters of methods that have @Locked, not of a constructor`,
    );
    expect(() => decorator(Service, 'm', 0)).toThrow('not of the static method m');
  });

  it('refuse a name that is none, and a pick that is no function', () => {
    expect(() => LockKey('')).toThrow('must be a non-empty string');
    expect(() => LockKey('id', 'order.id' as unknown as () => string)).toThrow('pick must be a function, not a string');
  });

  it('cannot be bypassed: injected() throws where nothing was filled in', () => {
    expect(() => injected()).toThrow(/called without its lock/);
  });
});
