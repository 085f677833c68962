import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { type DynamicModule, Inject, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  DistributedLockModule,
  getLockServiceToken,
  LockConfigurationError,
  Locked,
  LockService,
  LockUnavailableError,
} from '../../../lib/index.js';
import { freePort } from '../../support/proxy/ports.js';
import { boot } from '../support/boot.js';
import { memory } from '../support/application.js';

/** As `NestFactory` starts it; nobody gets an application that could be closed when that fails. */
async function start(imports: DynamicModule[], providers: (new (...args: never[]) => unknown)[] = []): Promise<void> {
  @Module({ imports, providers })
  class AppModule {}
  await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
}

class Orphan {
  @Locked('/locks/:id')
  async run(id: string): Promise<string> {
    return id;
  }
}

describe('an application that does not start', () => {
  const services: LockService[] = [];
  @Injectable()
  class Observer {
    constructor(@Inject(LockService) locks: LockService, @Inject(getLockServiceToken('reports')) reports: LockService) {
      services.push(locks, reports);
    }
  }
  beforeEach(() => {
    services.length = 0;
  });

  it.each([[['default', 'reports']], [['reports', 'default']]])(
    'leaves no connection open when one of them (%p: the second) finds no ZooKeeper',
    async ([up, down]) => {
      const starting = start(
        [
          DistributedLockModule.forRoot({ name: up!, connect: memory() }),
          DistributedLockModule.forRoot({
            name: down!,
            connect: `127.0.0.1:${await freePort()}`,
            connectTimeoutMs: 200,
          }),
        ],
        [Observer],
      );

      await expect(starting).rejects.toThrow(LockUnavailableError);
      expect(services.map(({ connectionState }) => connectionState)).toEqual(['closed', 'closed']);
    },
  );

  describe('as a connection is there twice', () => {
    let server: Server;
    let connections = 0;
    beforeEach(async () => {
      server = createServer((socket) => {
        connections += 1;
        socket.destroy();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    });
    afterEach(() => {
      server.close();
    });

    it('connects nowhere', async () => {
      const connect = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      const twice = [0, 1].map(() => DistributedLockModule.forRoot({ connect, waitMs: 300 }));

      await expect(start(twice)).rejects.toThrow(LockConfigurationError);
      await expect(start(twice)).rejects.toThrow("DistributedLockModule 'default' is imported 2 times");
      expect(connections).toBe(0);
    });
  });

  it('leaves the connection of another to objects that Nest did not build', async () => {
    @Injectable()
    class Broken {
      constructor() {
        throw new Error('broken');
      }
    }
    const module = await boot([DistributedLockModule.forRoot({ connect: memory() })]);
    await expect(start([DistributedLockModule.forRoot({ connect: memory() })], [Broken])).rejects.toThrow('broken');

    expect(await new Orphan().run('a')).toBe('a');
    await module.close();
  });
});
