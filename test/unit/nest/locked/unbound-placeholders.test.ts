import { describe, expect, it } from '@jest/globals';
import { Body, Controller, Get, Headers, Param, Post, Req } from '@nestjs/common';
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

  it('also with a path into what they hold', () => {
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

  it('a path into what is a text or a number: a dot in the key, most likely', () => {
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
      'placeholder ":name.json" leads into key name, which is no object. Where the text behind the dot is a part of the key, ' +
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
});
