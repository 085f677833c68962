import { describe, expect, it } from '@jest/globals';
import { Body, Param, Query } from '@nestjs/common';
import { Args } from '@nestjs/graphql';
import { Payload } from '@nestjs/microservices';
import { ConnectedSocket, MessageBody } from '@nestjs/websockets';
import { InvalidLockKeyError } from '../../../../lib/lock/errors.js';
import { Locked } from '../../../../lib/nest/locked/locked.decorator.js';
import { LockKey } from '../../../../lib/nest/locked/parameter.decorators.js';
import { telling } from '../../../support/telling.js';
import { RecordingService } from './recording-service.js';

interface Order {
  readonly id: string;
  readonly lines?: { readonly sku: string }[];
}

/** What key a call takes. */
async function keyOf(instance: object, call: () => unknown): Promise<string | undefined> {
  const service = RecordingService.in(instance);
  await call();
  return service.keys[0];
}

describe('a placeholder binds, in this order,', () => {
  it('keys comes first', async () => {
    class Service {
      @Locked('/locks/:id', { keys: (_id: string, order: Order) => ({ id: order.id }) })
      async run(@LockKey('id') id: string, order: Order): Promise<void> {
        await Promise.resolve([id, order]);
      }
    }
    const service = new Service();
    expect(await keyOf(service, () => service.run('argument', { id: 'selected' }))).toBe('/locks/selected');
  });

  it('a function in place of the path gives the result, and sees the instance', async () => {
    class Service {
      readonly area = 'north';
      @Locked(function (this: Service, order: Order) {
        return `/locks/${this.area}/${order.id}`;
      })
      async run(order: Order): Promise<void> {
        await Promise.resolve(order);
      }
    }
    const service = new Service();
    expect(await keyOf(service, () => service.run({ id: '1' }))).toBe('/locks/north/1');
  });

  it('the parameter with @LockKey comes before the route and before names', async () => {
    class Service {
      @Locked('/locks/:id')
      async run(@Param('id') id: string, @LockKey('id') other: string): Promise<void> {
        await Promise.resolve([id, other]);
      }
    }
    const service = new Service();
    expect(await keyOf(service, () => service.run('route', 'key'))).toBe('/locks/key');
  });

  it('@LockKey may pick a part of its parameter', async () => {
    class Service {
      @Locked('/locks/:id/:first')
      async run(
        @LockKey('id', (order: Order) => order.id)
        @LockKey('first', (order: Order) => order.lines?.[0]?.sku ?? '')
        order: Order,
      ): Promise<void> {
        await Promise.resolve(order);
      }
    }
    const service = new Service();
    expect(await keyOf(service, () => service.run({ id: '1', lines: [{ sku: 'a' }] }))).toBe('/locks/1/a');
  });

  it('the route metadata of Nest comes before names', async () => {
    class Service {
      @Locked('/locks/:id/:page/:name')
      async run(@Param('id') a: string, @Query('page') b: number, @Body('name') c: string, id: string): Promise<void> {
        await Promise.resolve([a, b, c, id]);
      }
    }
    const service = new Service();
    expect(await keyOf(service, () => service.run('i', 2, 'n', 'other'))).toBe('/locks/i/2/n');
  });

  it('the metadata of every transport counts: @Payload, @MessageBody, @Args', async () => {
    class Service {
      @Locked('/locks/:id')
      async message(@Payload('id') a: string): Promise<void> {
        await Promise.resolve(a);
      }
      @Locked('/locks/:id')
      async socket(@ConnectedSocket() client: unknown, @MessageBody('id') a: string): Promise<void> {
        await Promise.resolve([client, a]);
      }
      @Locked('/locks/:id')
      async field(@Args('id') a: string): Promise<void> {
        await Promise.resolve(a);
      }
    }
    const service = new Service();
    expect(await keyOf(service, () => service.message('1'))).toBe('/locks/1');
    expect(await keyOf(service, () => service.socket({}, '2'))).toBe('/locks/2');
    expect(await keyOf(service, () => service.field('3'))).toBe('/locks/3');
  });

  it('a dotted path leads into whole bodies, queries and params, and into any bound argument', async () => {
    class Service {
      @Locked('/locks/:body.order.id/:query.page/:params.tenant')
      async whole(@Body() a: object, @Query() b: object, @Param() c: object): Promise<void> {
        await Promise.resolve([a, b, c]);
      }
      @Locked('/locks/:payload.id')
      async message(@Payload() a: object): Promise<void> {
        await Promise.resolve(a);
      }
      @Locked('/locks/:input.id/:order.lines.0.sku')
      async bound(@Args('input') a: object, order: Order): Promise<void> {
        await Promise.resolve([a, order]);
      }
    }
    const service = new Service();
    const whole = (): Promise<void> => service.whole({ order: { id: 1 } }, { page: '2' }, { tenant: 't' });
    expect(await keyOf(service, whole)).toBe('/locks/1/2/t');
    expect(await keyOf(service, () => service.message({ id: 5 }))).toBe('/locks/5');
    const bound = (): Promise<void> => service.bound({ id: 'i' }, { id: 'o', lines: [{ sku: 's' }] });
    expect(await keyOf(service, bound)).toBe('/locks/i/s');
  });

  it("the parameter's name comes last", async () => {
    class Service {
      @Locked('/locks/:tenant/:orderId')
      async run(tenant: string, orderId: number): Promise<void> {
        await Promise.resolve([tenant, orderId]);
      }
    }
    const service = new Service();
    expect(await keyOf(service, () => service.run('t', 5))).toBe('/locks/t/5');
  });

  it('a name counts also through another decorator of ours', async () => {
    class Service {
      @Locked('/outer/:orderId')
      @Locked('/inner/:orderId')
      async run(orderId: number): Promise<void> {
        await Promise.resolve(orderId);
      }
    }
    const service = new Service();
    const recorded = RecordingService.in(service);
    await service.run(1);
    expect(recorded.keys).toEqual(['/outer/1', '/inner/1']);
  });
});

describe('a parameter with a default value', () => {
  class Service {
    @Locked('/locks/:region')
    async plain(region = 'eu'): Promise<string> {
      return Promise.resolve(region);
    }
    @Locked('/locks/:region/:page')
    async routed(@Param('region') region = 'eu', @LockKey('page') page = 1): Promise<unknown> {
      return Promise.resolve([region, page]);
    }
    @Locked('/locks/:region/:orderId')
    async destructured({ region = 'eu', id: orderId }: { region?: string; id: number } = { id: 0 }): Promise<unknown> {
      return Promise.resolve([region, orderId]);
    }
    @Locked('/locks/:month')
    async computed(month = new Date(0).toISOString()): Promise<string> {
      return Promise.resolve(month);
    }
    @Locked('/locks/:region', { paramNames: false })
    async without(@LockKey('region') region = 'eu'): Promise<string> {
      return Promise.resolve(region);
    }
  }
  const service = new Service();

  it('counts, and the key has what the method will see', async () => {
    expect(await keyOf(service, () => service.plain())).toBe('/locks/eu');
    expect(await keyOf(service, () => service.plain('us'))).toBe('/locks/us');
    expect(await keyOf(service, () => service.routed())).toBe('/locks/eu/1');
    expect(await keyOf(service, () => service.routed(undefined, 2))).toBe('/locks/eu/2');
    expect(await keyOf(service, () => service.destructured({ id: 7 }))).toBe('/locks/eu/7');
    expect(await keyOf(service, () => service.destructured({ region: 'us', id: 7 }))).toBe('/locks/us/7');
    expect(await keyOf(service, () => service.computed('2026'))).toBe('/locks/2026');
    expect(await keyOf(service, () => service.without())).toBe('/locks/eu');
  });

  it('is refused where it is missing and only the method can compute it, and the text says so', async () => {
    const recorded = RecordingService.in(service);
    for (const call of [() => service.computed(), () => service.destructured()]) {
      const error = await call().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(InvalidLockKeyError);
      expect(error).toEqual(telling('the lock is acquired before the method computes its default value'));
    }
    await expect(service.plain(null as unknown as string)).rejects.toThrow(InvalidLockKeyError);
    expect(recorded.keys).toEqual([]);
  });
});

describe('a missing part never becomes the text "undefined":', () => {
  class Service {
    @Locked('/locks/:tenant/:order.id')
    async bound(tenant: string, order?: { id?: string }): Promise<void> {
      await Promise.resolve([tenant, order]);
    }
    @Locked('/locks/:id', { keys: (order: { id: string }) => ({ id: order.id }) })
    async selected(order: { id: string }): Promise<void> {
      await Promise.resolve(order);
    }
    @Locked((id: unknown, other: unknown) => `/locks/${String(id)}/${String(other)}`)
    async computed(id: unknown, other: unknown): Promise<void> {
      await Promise.resolve([id, other]);
    }
  }
  const service = new Service();
  const recorded = RecordingService.in(service);

  it.each([
    ['an argument', () => service.bound(undefined as unknown as string, { id: '1' })],
    ['the object of a dotted path', () => service.bound('t')],
    ['the end of a dotted path', () => service.bound('t', {})],
    ['a selected value', () => service.selected({} as { id: string })],
    ['a computed key with undefined', () => service.computed(undefined, 1)],
    ['a computed key with null', () => service.computed(1, null)],
    ['a computed key with NaN', () => service.computed(1, NaN)],
    ['a computed key with an object', () => service.computed({}, 1)],
  ])('%s', async (_what, call) => {
    await expect(call()).rejects.toThrow(InvalidLockKeyError);
    expect(recorded.keys).toEqual([]);
  });

  it('a computed key may have such a text in a larger one', async () => {
    await service.computed('nullable', 'undefined-behaviour');
    expect(recorded.keys).toEqual(['/locks/nullable/undefined-behaviour']);
  });
});

describe('the label and the template of a lock', () => {
  it("are the method's name and its path, unless others are given", async () => {
    class Service {
      @Locked('/a')
      async plain(): Promise<void> {}
      @Locked('/b', { label: 'mine', waitMs: 5, leaseMs: 7, mode: 'read', reentrant: false })
      async labelled(): Promise<void> {}
      @Locked((id: string) => `/c/${id}`, { template: '/c/:id' })
      async computed(id: string): Promise<void> {
        void id;
      }
    }
    const service = new Service();
    const recorded = RecordingService.in(service);
    await service.plain();
    await service.labelled();
    await service.computed('7');
    expect(recorded.options).toEqual([
      { label: 'Service.plain', template: '/a' },
      { label: 'mine', template: '/b', waitMs: 5, leaseMs: 7, mode: 'read', reentrant: false },
      { label: 'Service.computed', template: '/c/:id' },
    ]);
  });
});
