import { describe, expect, it } from '@jest/globals';
import {
  type CanActivate,
  Controller,
  Get,
  type INestApplication,
  Injectable,
  Param,
  ParseIntPipe,
  Post,
  Put,
  Scope,
  UseGuards,
} from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import type { Fence } from '../../../lib/fencing/fence.js';
import { FenceToken, RequireFence, WithoutFence } from '../../../lib/fencing/http/fence.decorators.js';
import { FencingModule } from '../../../lib/fencing/http/fencing.module.js';
import { MemoryFencingMarks } from '../../../lib/fencing/http/fencing-options.js';
import { DistributedLockModule, LockKey, Locked } from '../../../lib/index.js';
import type { Imports } from '../support/boot.js';
import { memory } from '../support/application.js';
import { urlOf } from './support/documents-service.js';

/** Marks that tell what was claimed, in order. */
class ToldMarks extends MemoryFencingMarks {
  readonly claims: string[] = [];

  override async claim(resource: string, fence: Fence): Promise<void> {
    this.claims.push(`${resource} ${fence as bigint}`);
    await super.claim(resource, fence);
  }
}

interface Running extends AsyncDisposable {
  readonly claims: string[];
  /** The status of a request with this token. */
  call(method: string, path: string, token?: bigint): Promise<number>;
}

type ControllerClass = new (...args: never[]) => object;

async function start(
  controllers: ControllerClass[],
  imports: Imports = [],
  prepare: (app: INestApplication) => void = () => undefined,
): Promise<Running> {
  const marks = new ToldMarks();
  const module = await Test.createTestingModule({
    imports: [FencingModule.forRoot({ marks }), ...imports],
    controllers,
  }).compile();
  const app = module.createNestApplication({ logger: false });
  prepare(app);
  try {
    await app.listen(0, '127.0.0.1');
  } catch (error) {
    await app.close();
    throw error;
  }
  return {
    claims: marks.claims,
    call: async (method, path, token) => {
      const headers = token === undefined ? {} : { 'Fencing-Token': String(token) };
      return (await fetch(`${urlOf(app)}/${path}`, { method, headers })).status;
    },
    [Symbol.asyncDispose]: () => app.close(),
  };
}

describe('@RequireFence on a class', () => {
  @Controller('shelves/:shelf')
  @RequireFence('/locks/shelves/:shelf')
  class Shelves {
    @Put()
    put(@FenceToken() token: bigint): string {
      return String(token);
    }

    @Put('books/:book')
    @RequireFence('/locks/books/:book')
    putBook(): string {
      return 'put';
    }

    @Get()
    @WithoutFence()
    list(): string {
      return 'list';
    }
  }

  it('is for all of its routes, a method takes the place of it or lifts it, and nothing is claimed twice', async () => {
    await using running = await start([Shelves]);

    expect(await running.call('PUT', 'shelves/a', 7n)).toBe(200);
    expect(await running.call('PUT', 'shelves/a', 6n)).toBe(409);
    expect(await running.call('PUT', 'shelves/a')).toBe(428);
    expect(await running.call('PUT', 'shelves/a/books/b', 1n)).toBe(200);
    expect(await running.call('GET', 'shelves/a')).toBe(200);
    expect(running.claims).toEqual(['/locks/shelves/a 7', '/locks/shelves/a 6', '/locks/books/b 1']);
  });

  it('is for those that inherit from it, too', async () => {
    @Controller('shelves/:shelf/more')
    class More extends Shelves {}
    await using running = await start([More]);

    expect(await running.call('PUT', 'shelves/a/more')).toBe(428);
    expect(await running.call('PUT', 'shelves/a/more', 7n)).toBe(200);
  });
});

describe('@RequireFence', () => {
  it('takes parameters of whatever stands in front of the route', async () => {
    @Controller('documents')
    class Documents {
      @Post(':id')
      @RequireFence('/locks/:region/:tenant/:id')
      save(): string {
        return 'saved';
      }
    }
    class DocumentsModule {}
    const imports = [
      { module: DocumentsModule, controllers: [Documents] },
      RouterModule.register([{ path: 'tenants/:tenant', module: DocumentsModule }]),
    ];
    await using running = await start([], imports, (app) => app.setGlobalPrefix('regions/:region'));

    expect(await running.call('POST', 'regions/eu/tenants/t/documents/d', 7n)).toBe(201);
    expect(running.claims).toEqual(['/locks/eu/t/d 7']);
  });

  it('computes the key with keys, where the handler takes a parameter for something else than it is', async () => {
    @Controller('orders')
    class Orders {
      @Put(':id')
      @RequireFence('/locks/orders/:number', { keys: ({ id }) => ({ number: Number(id) }) })
      save(@Param('id', ParseIntPipe) id: number): string {
        return String(id);
      }
    }
    await using running = await start([Orders]);

    expect(await running.call('PUT', 'orders/42', 7n)).toBe(200);
    expect(await running.call('PUT', 'orders/042', 6n)).toBe(409);
    expect(await running.call('PUT', 'orders/x', 7n)).toBe(400);
    expect(running.claims).toEqual(['/locks/orders/42 7', '/locks/orders/42 6']);
  });

  it('gives keys the segments of a wildcard as one text', async () => {
    @Controller('files')
    class Files {
      @Put('any/*rest')
      @RequireFence('/locks/files/:path', { keys: ({ rest = '' }) => ({ path: rest }) })
      save(): string {
        return 'saved';
      }
    }
    await using running = await start([Files]);

    expect(await running.call('PUT', 'files/any/a/b', 7n)).toBe(200);
    expect(running.claims).toEqual(['/locks/files/a%2Fb 7']);
  });

  it.each(['above', 'below'])('stands %s @Locked', async (where) => {
    class Orders {
      save(@LockKey('id') id: string, @FenceToken() token: bigint): Promise<string> {
        return Promise.resolve(`${id} ${token}`);
      }
    }
    const decorators = [RequireFence('/locks/orders/:id'), Locked('/other-locks/:id') as MethodDecorator];
    const method = Object.getOwnPropertyDescriptor(Orders.prototype, 'save')!;
    for (const decorate of where === 'above' ? decorators.reverse() : decorators) {
      decorate(Orders.prototype, 'save', method);
    }
    Put(':id')(Orders.prototype, 'save', method);
    Param('id')(Orders.prototype, 'save', 0);
    Object.defineProperty(Orders.prototype, 'save', method);
    Controller('orders')(Orders);
    await using running = await start([Orders], [DistributedLockModule.forRoot({ connect: memory() })]);

    expect(await running.call('PUT', 'orders/1', 7n)).toBe(200);
    expect(await running.call('PUT', 'orders/1', 6n)).toBe(409);
    expect(running.claims).toEqual(['/locks/orders/1 7', '/locks/orders/1 6']);
  });

  it('raises no mark for who is not let in by a guard that stands below it', async () => {
    @Injectable()
    class Nobody implements CanActivate {
      canActivate(): boolean {
        return false;
      }
    }
    @Controller('orders')
    class Orders {
      @Put(':id')
      @RequireFence('/locks/orders/:id')
      @UseGuards(Nobody)
      save(): string {
        return 'saved';
      }
    }
    await using running = await start([Orders]);

    expect(await running.call('PUT', 'orders/1', 7n)).toBe(403);
    expect(running.claims).toEqual([]);
  });

  it('works on controllers that live for one request', async () => {
    @Controller({ path: 'orders', scope: Scope.REQUEST })
    class Orders {
      @Put(':id')
      @RequireFence('/locks/orders/:id')
      save(@FenceToken() token: bigint): string {
        return String(token);
      }
    }
    await using running = await start([Orders]);

    expect(await running.call('PUT', 'orders/1', 7n)).toBe(200);
    expect(await running.call('PUT', 'orders/1', 6n)).toBe(409);
  });
});
