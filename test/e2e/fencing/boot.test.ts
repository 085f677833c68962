import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, Put } from '@nestjs/common';
import type { Fence } from '../../../lib/fencing/fence.js';
import { FenceToken, RequireFence, WithoutFence } from '../../../lib/fencing/http/fence.decorators.js';
import { FencingModule } from '../../../lib/fencing/http/fencing.module.js';
import { type FencingModuleOptions, MemoryFencingMarks } from '../../../lib/fencing/http/fencing-options.js';
import { SigningKeys } from '../../../lib/fencing/signed/keys.js';
import { RedisFence } from '../../../lib/fencing/redis/redis-fence.js';
import { FencedZnodes } from '../../../lib/fencing/znodes/fenced-znodes.js';
import { LockConfigurationError, LockService } from '../../../lib/index.js';
import type { Imports } from '../support/boot.js';
import { start as startWith } from './support/start.js';

const marks = new MemoryFencingMarks();
const claim = (resource: string, fence: Fence): Promise<void> => marks.claim(resource, fence);
// Not asked for anything here.
const znodes = new FencedZnodes({ locks: Object.create(LockService.prototype) as LockService, root: '/data' });
const keys = new SigningKeys({ issuer: 'me', current: { id: 'k', algorithm: 'HS256', secret: randomBytes(32) } });

const start: typeof startWith = (controllers, imports = [FencingModule.forRoot({ marks })], providers = []) =>
  startWith(controllers, imports, providers);

@Controller('documents')
class Documents {
  @Put(':id')
  @RequireFence('/locks/:id')
  save(): string {
    return 'saved';
  }
}

describe('an application with @RequireFence', () => {
  it.each<[string, Imports]>([
    ['forRoot', [FencingModule.forRoot({ marks, keys, issuer: 'me', maxAgeMs: 1_000 })]],
    ['forRootAsync', [FencingModule.forRootAsync({ useFactory: () => Promise.resolve({ marks, keys }) })]],
    [
      'forRootAsync with a class',
      [
        FencingModule.forRootAsync({
          useClass: class {
            createFencingOptions = (): FencingModuleOptions => ({ marks });
          },
        }),
      ],
    ],
  ])('starts with %s', async (_how, imports) => {
    await start([Documents], imports);
  });

  it('starts once the marks have said that they can be kept', async () => {
    const asked: string[] = [];
    const check = async (): Promise<void> => void asked.push('check');
    await start([Documents], [FencingModule.forRoot({ marks: { claim, check } })]);
    expect(asked).toEqual(['check']);
    const refuse = (): Promise<void> => Promise.reject(new LockConfigurationError('appendfsync is everysec'));
    await expect(start([Documents], [FencingModule.forRoot({ marks: { claim, check: refuse } })])).rejects.toThrow(
      'appendfsync is everysec',
    );
  });

  it('starts only over a Redis that keeps what it acknowledges, unless its claims alone are handed over', async () => {
    const settings: Record<string, string> = {
      appendonly: 'yes',
      appendfsync: 'always',
      'no-appendfsync-on-rewrite': 'no',
      'maxmemory-policy': 'noeviction',
    };
    const persistence = ['aof_enabled:1', 'aof_last_write_status:ok'].join('\r\n');
    const redis = new RedisFence({
      client: {
        callBuffer: async (command, [, name = '']) =>
          command === 'info' ? persistence : [name, settings[String(name)]],
      },
    });
    await start([Documents], [FencingModule.forRoot({ marks: redis })]);
    settings['appendonly'] = 'no';
    await expect(start([Documents], [FencingModule.forRoot({ marks: redis })])).rejects.toThrow(
      'may forget a fencing token that it has acknowledged',
    );
    const accepting = { claim: (resource: string, fence: Fence) => redis.claim(resource, fence) };
    await start([Documents], [FencingModule.forRoot({ marks: accepting })]);
  });
});

describe('an application with @RequireFence', () => {
  const HELP = 'is FencingModule.forRoot({ marks }) imported in the root module?';

  it('does not start without the module', async () => {
    await expect(start([Documents], [])).rejects.toThrow(HELP);
  });

  it('does not start with two such modules: which controller has whose marks?', async () => {
    const two = [FencingModule.forRoot({ marks }), FencingModule.forRoot({ marks: new MemoryFencingMarks() })];
    await expect(start([Documents], two)).rejects.toThrow('FencingModule is imported 2 times. Call forRoot once');
  });

  it.each<[string, unknown, string]>([
    ['no marks', { keys }, 'FencingModule: marks: must be a store with claim(resource, fence)'],
    ['no options', undefined, 'FencingModule: '],
    ['marks that are none', { marks: new Map() }, 'must be a store with claim'],
    ['marks that look at no token', { marks: { claim: async () => undefined } }, 'which takes these two'],
    ['marks in znodes', { marks: znodes }, 'marks: FencedZnodes keeps no highest token to compare with'],
    ['a check that is none', { marks: { claim, check: true } }, 'marks: check: must be a function'],
    ['keys that were not checked', { marks, keys: { id: 'k' } }, 'keys: must be made with new VerificationKeys'],
    [
      'an unknown option',
      { marks, key: keys },
      'key: is not an option (the options are: marks, keys, issuer, maxAgeMs)',
    ],
    ['an age without keys', { marks, maxAgeMs: 5 }, 'maxAgeMs: only signed tokens have it'],
    ['an issuer without keys', { marks, issuer: 'me' }, 'issuer: only signed tokens have it'],
    ['an age of nothing', { marks, keys, maxAgeMs: 0 }, 'maxAgeMs: must be a number of milliseconds above 0, not 0'],
    ['an empty issuer', { marks, keys, issuer: '' }, 'issuer: must be a non-empty text'],
  ])('does not start with %s', async (_what, options, expected) => {
    const useFactory = (): FencingModuleOptions => options as FencingModuleOptions;
    await expect(start([Documents], [FencingModule.forRootAsync({ useFactory })])).rejects.toThrow(expected);
  });

  it('does not start with a placeholder that is no parameter of the route', async () => {
    @Controller('tenants/:tenant/documents')
    class Misspelt {
      @Put([':id', 'by-name/:name'])
      @RequireFence('/locks/:tenant/:id')
      save(): string {
        return 'saved';
      }
    }
    await expect(start([Misspelt])).rejects.toThrow(
      `@RequireFence('/locks/:tenant/:id') on Misspelt.save: placeholder ":id" is no parameter of the route ` +
        '/tenants/:tenant/documents/by-name/:name of Misspelt.save. Known: [tenant, name]',
    );
  });

  it('does not start with a wildcard for a placeholder, unless what it stands for is made one value', async () => {
    @Controller('files')
    class Wild {
      @Put('any/*rest')
      @RequireFence('/locks/files/:rest')
      save(): string {
        return 'saved';
      }
    }
    @Controller('files')
    class Tamed {
      @Put('any/*rest')
      @RequireFence('/locks/files/:rest', { keys: ({ rest }) => ({ rest: String(rest) }) })
      save(): string {
        return 'saved';
      }
    }
    await expect(start([Wild])).rejects.toThrow(
      `on Wild.save: "*rest" of the route /files/any/*rest of Wild.save is a wildcard, which stands for several segments`,
    );
    await start([Tamed]);
  });

  it('does not start with a class that requires a fence on a route without its placeholder, unless that is lifted', async () => {
    @Controller('documents')
    @RequireFence('/locks/:id')
    class Listing {
      @Get()
      list(): string {
        return 'all';
      }
    }
    @Controller('documents')
    @RequireFence('/locks/:id')
    class Lifted {
      @Get()
      @WithoutFence()
      list(): string {
        return 'all';
      }
    }
    await expect(start([Listing])).rejects.toThrow('no parameter of the route /documents/ of Listing.list. Known: []');
    await start([Lifted]);
  });

  it('does not start with a fence on what is no route, or no controller', async () => {
    @Controller('documents')
    class Helper {
      @RequireFence('/locks/a')
      help(): string {
        return 'help';
      }
    }
    @Injectable()
    class Service {
      @RequireFence('/locks/a')
      save(): string {
        return 'saved';
      }
    }
    await expect(start([Helper])).rejects.toThrow("@RequireFence('/locks/a') on Helper.help is not a route");
    await expect(start([], undefined, [Service])).rejects.toThrow(
      'it is for controllers; this class is listed in providers',
    );
  });

  it('does not start with @FenceToken() and no @RequireFence beside it', async () => {
    @Controller('documents')
    class Lonely {
      @Put()
      save(@FenceToken() token: bigint): string {
        return String(token);
      }
    }
    await expect(start([Lonely])).rejects.toThrow('@FenceToken() on Lonely.save has no @RequireFence beside it');
  });
});

describe('a class with @RequireFence', () => {
  const decorate = (decorator: MethodDecorator): void => {
    class Orders {
      save(): void {}
    }
    decorator(Orders.prototype, 'save', Object.getOwnPropertyDescriptor(Orders.prototype, 'save')!);
  };

  it.each(['locks/:id', '/locks//:id', '/locks/:a:b', '/'])('is not even defined with the path %s', (path) => {
    expect(() => decorate(RequireFence(path))).toThrow(LockConfigurationError);
    expect(() => decorate(RequireFence(path))).toThrow(`@RequireFence('${path}') on Orders.save: `);
  });

  it('is not even defined with options that make no sense, or on what is no method', () => {
    expect(() => decorate(RequireFence('/a', { keys: 'id' as never }))).toThrow('keys: must be a function');
    expect(() => decorate(RequireFence('/a', { key: 'id' } as never))).toThrow(
      'key: is not an option (the options are: keys)',
    );
    class Statics {
      static save(): void {}
    }
    const method = Object.getOwnPropertyDescriptor(Statics, 'save')!;
    expect(() => RequireFence('/a')(Statics, 'save', method)).toThrow('not for static ones');
    expect(() => RequireFence('/a')(Statics.prototype, 'property')).toThrow('or properties');
    expect(() => FenceToken()(Statics, undefined, 0)).toThrow('@FenceToken() is for parameters of methods');
  });
});
