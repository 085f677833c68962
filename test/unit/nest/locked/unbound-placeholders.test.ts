import { describe, expect, it } from '@jest/globals';
import { Body, Controller, Get, Headers, Param, Post, Req } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { LockConfigurationError } from '../../../../lib/lock/errors.js';
import { Locked } from '../../../../lib/nest/locked/locked.decorator.js';
import { LockKey } from '../../../../lib/nest/locked/parameter.decorators.js';

describe('a placeholder that binds to nothing, or to several things, throws while the class is being defined:', () => {
  it('the text names what is known', () => {
    const define = (): unknown => {
      @Controller()
      class A {
        @Get()
        @Locked('/x/:nope')
        async m(@Param('id') a: string, @Body() b: object, @LockKey('key') c: string, qq: string): Promise<void> {
          await Promise.resolve([a, b, c, qq]);
        }
      }
      return A;
    };
    expect(define).toThrow(LockConfigurationError);
    expect(define).toThrow(
      `@Locked('/x/:nope') on A.m: placeholder ":nope" binds to nothing. Known: [key key, route id, route body.*, param qq]. ` +
        `Put @LockKey('nope') in front of the parameter, or say it with keys: (...args) => ({ "nope": ... })`,
    );
  });

  it('names of one letter are those of a minifier', () => {
    const define = (): unknown => {
      class A {
        @Locked('/x/:a')
        async m(a: string): Promise<void> {
          await Promise.resolve(a);
        }
      }
      return A;
    };
    expect(define).toThrow(
      'placeholder ":a" binds to nothing. Known: []. The parameter\'s name "a" does not count: names of one letter are what ' +
        "bundlers make of any. Put @LockKey('a')",
    );
  });

  it('a name of one letter is not all that is wrong where the type is, too', () => {
    const define = (): unknown => {
      class A {
        @Locked('/x/:d')
        async m(d: Date): Promise<void> {
          await Promise.resolve(d);
        }
      }
      return A;
    };
    expect(define).toThrow(
      'names of one letter are what bundlers make of any. Nor would a longer name help: its type is Date, and a key takes a ' +
        "string, a number or a bigint. Put @LockKey('d', (d) => ...) in front of the parameter",
    );
  });

  it('names of one letter are those of a minifier also with a path into what they hold', () => {
    const define = (): unknown => {
      class A {
        @Locked('/x/:o.a.b')
        async m(o: object): Promise<void> {
          await Promise.resolve(o);
        }
      }
      return A;
    };
    expect(define).toThrow('The parameter\'s name "o" does not count');
  });

  it('a path into what is a text or a number is taken for a dot in the key', () => {
    const define = (): unknown => {
      class A {
        @Locked('/files/:name.json')
        async m(@LockKey('name') name: string): Promise<void> {
          await Promise.resolve(name);
        }
      }
      return A;
    };
    expect(define).toThrow(
      'placeholder ":name.json" leads into key name, which is not an object. Where the text behind the dot is a part of the key, ' +
        'compute the key: @Locked((...args) => `/locks/${...}`)',
    );
  });

  it('paramNames: false turns names off', () => {
    const define = (): unknown => {
      class A {
        @Locked('/x/:orderId', { paramNames: false })
        async m(orderId: string): Promise<void> {
          await Promise.resolve(orderId);
        }
      }
      return A;
    };
    expect(define).toThrow('placeholder ":orderId" binds to nothing. Known: [].');
  });

  it('what Nest fills from elsewhere is no source', () => {
    const define = (): unknown => {
      class A {
        @Post()
        @Locked('/x/:host')
        async m(@Headers('host') a: string, @Req() b: object): Promise<void> {
          await Promise.resolve([a, b]);
        }
      }
      return A;
    };
    expect(define).toThrow('Known: []');
  });

  it('a whole body is no value', () => {
    const define = (): unknown => {
      class A {
        @Locked('/x/:body')
        async m(@Body() b: object): Promise<void> {
          await Promise.resolve(b);
        }
      }
      return A;
    };
    expect(define).toThrow('placeholder ":body" binds to nothing. Known: [route body.*]');
  });

  it('two of the same rank are ambiguous', () => {
    const byRoute = (): unknown => {
      class A {
        @Locked('/x/:id')
        async m(@Param('id') a: string, @Body('id') b: string): Promise<void> {
          await Promise.resolve([a, b]);
        }
      }
      return A;
    };
    expect(byRoute).toThrow(
      `@Locked('/x/:id') on A.m: placeholder ":id" is ambiguous: route id (parameter 0), route id (parameter 1)`,
    );
    const byKey = (): unknown => {
      class A {
        @Locked('/x/:id')
        async m(@LockKey('id') a: string, @LockKey('id') b: string): Promise<void> {
          await Promise.resolve([a, b]);
        }
      }
      return A;
    };
    expect(byKey).toThrow('is ambiguous: key id (parameter 0), key id (parameter 1)');
  });

  it('two names of the same rank are ambiguous, also where one is destructured', () => {
    const define = (): unknown => {
      class A {
        @Locked('/x/:id')
        async m(id: string, { id: other, ...rest }: { id: string }, { id: id2 }: { id: string }): Promise<void> {
          await Promise.resolve([id, other, rest, id2]);
        }
        @Locked('/x/:orderId')
        async n({ orderId }: { orderId: string }, { orderId: e }: { orderId: string }): Promise<void> {
          await Promise.resolve([orderId, e]);
        }
      }
      return A;
    };
    expect(define).toThrow(
      'on A.n: placeholder ":orderId" is ambiguous: param orderId (parameter 0), param orderId (parameter 1)',
    );
  });
});

describe('the text of a placeholder that binds to nothing', () => {
  /** As the decorators of many packages do. */
  function Timed(_prototype: object, _name: string | symbol, descriptor: PropertyDescriptor): void {
    const original = descriptor.value as (...args: unknown[]) => unknown;
    descriptor.value = function (this: unknown, ...args: unknown[]) {
      return original.apply(this, args);
    };
  }
  /** These copy the name, or happen to be written as methods. */
  function Named(prototype: object, name: string | symbol, descriptor: PropertyDescriptor): void {
    Timed(prototype, name, descriptor);
    Object.defineProperty(descriptor.value, 'name', { value: name });
  }
  function Proxied(_prototype: object, _name: string | symbol, descriptor: PropertyDescriptor): void {
    descriptor.value = new Proxy(descriptor.value as () => unknown, {});
  }
  function Shorthand(_prototype: object, _name: string | symbol, descriptor: PropertyDescriptor): void {
    const original = descriptor.value as (...args: unknown[]) => unknown;
    const around = {
      run(this: unknown, ...args: unknown[]) {
        return original.apply(this, args);
      },
    };
    descriptor.value = Reflect.get(around, 'run');
  }
  const REPLACED = 'Another decorator below @Locked has replaced the method, so the names of its parameters are lost.';

  it.each([Timed, Named, Proxied, Shorthand])('says that %p has replaced the method, and what to write', (Other) => {
    const define = (): unknown => {
      class A {
        @Locked('/locks/:orderId')
        @Other
        async pay(orderId: string): Promise<void> {
          await Promise.resolve(orderId);
        }
      }
      return A;
    };
    expect(define).toThrow(`placeholder ":orderId" binds to nothing. Known: []. ${REPLACED}`);
    expect(define).toThrow(
      /@Locked below that decorator .* runs outside the lock\.\) Put @LockKey\('orderId'\) in front of the parameter, or/,
    );
  });

  it('says nothing of other decorators where there are none, and @LockKey works behind those that replace it', () => {
    const define = (): unknown => {
      class A {
        @Locked('/locks/:orderId')
        async pay(): Promise<void> {}
      }
      return A;
    };
    expect(define).toThrow(expect.not.objectContaining({ message: expect.stringContaining('replaced') }));
    class B {
      @Locked('/locks/:orderId')
      @Timed
      async pay(@LockKey('orderId') orderId: string): Promise<void> {
        await Promise.resolve(orderId);
      }
    }
    expect(new B()).toBeDefined();
  });

  const HINTS: readonly [path: string, known: string, prototypeOf: () => unknown, hint: string][] = [
    [':params.id', 'route id', () => routed(Param('id')), `It has @Param('id'): write ":id".`],
    [':params.id', 'route orderId', () => routed(Param('orderId')), `It has @Param('orderId'): write ":orderId".`],
    [':body.id', 'route id', () => routed(Body('id')), `It has @Body('id'): write ":id".`],
    [':body.order.id', 'route order', () => routed(Body('order')), `It has @Body('order'): write ":order.id".`],
    [':query.id', 'route id', () => routed(Param('id')), `It has @Param('id'): write ":id".`],
    [':payload.id', 'route id', () => routed(Payload('id')), `It has @Payload('id'): write ":id".`],
    [':params.thing', 'param thing', () => routed(), 'It has a parameter called thing: write ":thing".'],
    [':body.id', 'param thing', () => routed(), 'To read from its parameter thing, write ":thing.id".'],
  ];
  let path = '';

  function routed(decorator: ParameterDecorator = () => undefined): unknown {
    class A {
      @Locked(`/x/${path}`)
      async m(@decorator thing: string): Promise<void> {
        await Promise.resolve(thing);
      }
    }
    return A;
  }

  it.each(HINTS)('tells who writes %s, with %s, what to write instead', (...[placeholder, known, define, hint]) => {
    path = placeholder;
    expect(define).toThrow(`binds to nothing. Known: [${known}`);
    expect(define).toThrow(`reads from a parameter with @`);
    expect(define).toThrow(hint);
  });
});
