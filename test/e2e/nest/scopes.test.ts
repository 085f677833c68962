import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  type DynamicModule,
  forwardRef,
  Get,
  Inject,
  Injectable,
  Module,
  Param,
  Scope,
} from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { REQUEST } from '@nestjs/core';
import {
  currentLock,
  DistributedLockModule,
  Fence,
  injected,
  LockClosedError,
  Locked,
  LockService,
} from '../../../lib/index.js';
import { memory, startApplication } from '../support/application.js';
import { boot } from '../support/boot.js';

class Base {
  @Locked('/locks/:name')
  async run(name: string): Promise<string> {
    return `${name} ${currentLock()?.key}`;
  }
}

@Injectable()
class Singleton extends Base {}

@Injectable({ scope: Scope.TRANSIENT })
class Transient extends Base {}

@Injectable({ scope: Scope.REQUEST })
class PerRequest extends Base {
  constructor(@Inject(REQUEST) readonly request: object) {
    super();
  }
}

@Controller({ scope: Scope.REQUEST })
class PerRequestController {
  constructor(
    private readonly transient: Transient,
    private readonly perRequest: PerRequest,
  ) {}

  @Get(':name')
  @Locked('/locks/controller/:name')
  async run(@Param('name') name: string): Promise<string[]> {
    return [String(currentLock()?.key), await this.transient.run(name), await this.perRequest.run(name)];
  }
}

describe('@Locked on instances that Nest makes', () => {
  it('locks methods of those that are made once, for each place, and for each request', async () => {
    await using application = await startApplication({
      providers: [Singleton, Transient, PerRequest],
      controllers: [PerRequestController],
    });

    expect(await application.get(Singleton).run('a')).toBe('a /locks/a');
    expect(await (await application.app.resolve(Transient)).run('b')).toBe('b /locks/b');
    const response = await fetch(`${application.url}/c`);
    expect(await response.json()).toEqual(['/locks/controller/c', 'c /locks/c', 'c /locks/c']);
  });

  it('locks a method that another of the same instance calls', async () => {
    @Injectable()
    class Caller {
      call(): Promise<string | undefined> {
        return this.locked();
      }
      @Locked('/locks/self')
      async locked(): Promise<string | undefined> {
        return currentLock()?.key;
      }
    }
    await using application = await startApplication({ providers: [Caller] });

    expect(await application.get(Caller).call()).toBe('/locks/self');
  });
});

describe('@Locked on instances that Nest does not make', () => {
  it('works on those from useFactory and useValue, each in its own application', async () => {
    const metadata = () => ({
      providers: [
        { provide: 'made', useFactory: () => new Base() },
        { provide: 'given', useValue: new Base() },
      ],
    });
    await using one = await startApplication(metadata());
    await using other = await startApplication(metadata());

    for (const { get, locks } of [one, other]) {
      const keys: string[] = [];
      const subscription = locks.events$.subscribe(({ type, key }) => type === 'acquired' && keys.push(key));
      await get<Base>('made').run('made');
      await get<Base>('given').run('given');
      subscription.unsubscribe();
      expect(keys).toEqual(['/locks/made', '/locks/given']);
    }
  });

  it('works on an object that several applications are given, while one of them runs; of two, neither is it', async () => {
    const shared = new Base();
    const metadata = { providers: [{ provide: 'shared', useValue: shared }] };
    const first = await startApplication(metadata);
    expect(await shared.run('a')).toBe('a /locks/a');
    await first.app.close();
    await expect(shared.run('a')).rejects.toThrow(LockClosedError);

    const second = await startApplication(metadata);
    expect(await shared.run('a')).toBe('a /locks/a');
    const third = await startApplication(metadata);
    await expect(shared.run('a')).rejects.toThrow('there are several');

    await second.app.close();
    const keys: string[] = [];
    third.locks.events$.subscribe(({ type, key }) => type === 'acquired' && keys.push(key));
    await shared.run('b');
    expect(keys).toEqual(['/locks/b']);
    await third.app.close();
  });

  it('finds the connection that their own module imports', async () => {
    const made = { provide: 'made', useFactory: () => new Base() };
    const given = (label: string): DynamicModule => ({
      module: class {},
      imports: [DistributedLockModule.forRoot({ connect: memory(), isGlobal: false })],
      providers: [
        made,
        { provide: label, useExisting: LockService },
        { provide: `${label} object`, useExisting: 'made' },
      ],
    });
    const module = await boot([given('one'), given('other')]);

    for (const label of ['one', 'other']) {
      const keys: string[] = [];
      const { events$ } = module.get<LockService>(label, { strict: false });
      const subscription = events$.subscribe(({ type, key }) => type === 'acquired' && keys.push(key));
      await module.get<Base>(`${label} object`, { strict: false }).run(label);
      subscription.unsubscribe();
      expect(keys).toEqual([`/locks/${label}`]);
    }
    await module.close();
  });

  it('finds a connection that another module passes on, where modules import each other in a circle', async () => {
    const locks = DistributedLockModule.forRoot({ connect: memory(), isGlobal: false });
    @Module({ imports: [forwardRef(() => Right), locks], exports: [DistributedLockModule] })
    class Left {}
    @Module({ imports: [forwardRef(() => Left), locks], exports: [DistributedLockModule] })
    class Right {}
    @Module({ imports: [Left], providers: [{ provide: 'made', useFactory: () => new Base() }] })
    class Feature {}
    const module = await boot([Feature, DistributedLockModule.forRoot({ connect: memory(), isGlobal: false })]);

    expect(await module.get<Base>('made', { strict: false }).run('a')).toBe('a /locks/a');
    await module.close();
  });

  it('finds the one connection of the process; none or several are an error', async () => {
    const orphan = new Base();
    await expect(orphan.run('a')).rejects.toThrow(
      /^Base.run was called on an object that Nest did not build.*there is none/,
    );

    const one = await startApplication({});
    expect(await orphan.run('a')).toBe('a /locks/a');

    const other = await startApplication({});
    await expect(orphan.run('a')).rejects.toThrow('there are several');

    await one.app.close();
    expect(await orphan.run('a')).toBe('a /locks/a');

    await other.app.close();
    await expect(orphan.run('a')).rejects.toThrow('there is none');
  });

  it('fails a method that is called without its object', async () => {
    await using application = await startApplication({ providers: [Singleton] });
    expect(application.get(Singleton)).toBeInstanceOf(Base);
    const run = Reflect.get(Singleton.prototype, 'run');

    expect(await Reflect.apply(run, undefined, ['a'])).toBe('a /locks/a');
  });
});

describe('a subclass', () => {
  it('drops the lock where it overrides without @Locked, and keeps it where it calls super', async () => {
    @Injectable()
    class Dropping extends Base {
      override async run(name: string): Promise<string> {
        return `${name} ${currentLock()?.key}`;
      }
    }
    @Injectable()
    class Calling extends Base {
      override run(name: string): Promise<string> {
        return super.run(name);
      }
    }
    await using application = await startApplication({ providers: [Dropping, Calling] });

    expect(await application.get(Dropping).run('a')).toBe('a undefined');
    expect(await application.get(Calling).run('a')).toBe('a /locks/a');
  });
});

describe('an injected parameter', () => {
  it('may be left out by callers, and throws where the wrapper was passed by', async () => {
    @Injectable()
    class Service {
      @Locked('/locks/a')
      async run(@Fence() token: bigint = injected()): Promise<bigint> {
        return token;
      }
    }
    class Bypassing extends Service {
      override async run(token: bigint = injected()): Promise<bigint> {
        return token;
      }
    }
    await using application = await startApplication({ providers: [Service, Bypassing] });

    expect(await application.get(Service).run()).toBeGreaterThan(0n);
    await expect(application.get(Bypassing).run()).rejects.toThrow('called without its lock');
  });
});

describe('without the module,', () => {
  it('the application does not start, and says what is missing', async () => {
    const starting = Test.createTestingModule({ providers: [Singleton] }).compile();

    await expect(starting).rejects.toThrow(
      /lock service for @Locked \(is DistributedLockModule\.forRoot\(\) imported in the root module, and global\? In a test, add /,
    );
  });

  it('an application that names one does not start, and says which name', async () => {
    @Injectable()
    class Service {
      @Locked('/locks/a', { name: 'orders' })
      async run(): Promise<void> {}
    }
    const imports = [DistributedLockModule.forRoot({ connect: memory() })];
    const starting = Test.createTestingModule({ imports, providers: [Service] }).compile();

    await expect(starting).rejects.toThrow("DistributedLockModule.forRoot({ name: 'orders', ... })");
  });

  it('a class without @Locked starts as ever', async () => {
    await Test.createTestingModule({ providers: [{ provide: LockService, useValue: {} }] }).compile();
  });
});
