import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Inject,
  Injectable,
  type INestApplicationContext,
  Module,
  Param,
  type Provider,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { currentLock, DistributedLockModule, Locked, LockService } from '../../../lib/index.js';
import { memory } from '../support/application.js';

/** As tracing tools do it: what Nest has is the Proxy. */
type Instrument = (instance: unknown) => unknown;

/** Classes with private members bear no Proxy for a `this`, so such tools call methods on the instance itself. */
const onTheTarget: Instrument = (instance) =>
  new Proxy(instance as object, {
    get(target, property): unknown {
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });

/** Nest's own providers do not bear that: maps are among them. */
const ofTheApplication =
  (instrument: Instrument): Instrument =>
  (instance) =>
    instance instanceof Orders || instance instanceof Caller ? instrument(instance) : instance;

const onTheProxy = ofTheApplication(
  (instance) => new Proxy(instance as object, { get: (...all) => Reflect.get(...all) as unknown }),
);

/** What is injected comes to the instance itself, what is called to the Proxy. */
const filledBehind = ofTheApplication(
  (instance) =>
    new Proxy(instance as object, {
      set: (target, property, value) => Reflect.set(target, property, value, target),
    }),
);

/** Methods behind it answer later. */
const traced: Instrument = (instance) =>
  new Proxy(instance as object, {
    get(target, property): unknown {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function' || property === 'constructor') return value;
      return (...args: unknown[]): unknown => Reflect.apply(value, target, args) as unknown;
    },
  });

/** Symbols are nobody's methods to them. */
const byNameAlone: Instrument = (instance) =>
  new Proxy(instance as object, {
    get(target, property, receiver): unknown {
      if (typeof property === 'symbol') return Reflect.get(target, property, receiver);
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === 'function' && property !== 'constructor' ? (value.bind(target) as unknown) : value;
    },
  });

@Injectable()
class Orders {
  @Locked('/locks/:name')
  async run(name: string): Promise<string> {
    return `${name} ${currentLock()?.key}`;
  }
}

@Injectable()
class PrivateOrders {
  readonly #prefix = 'private';

  @Locked('/locks/private/:name')
  async run(name: string): Promise<string> {
    return `${this.#prefix} ${name} ${currentLock()?.key}`;
  }
}

@Injectable()
class Caller {
  constructor(@Inject(Orders) private readonly orders: Orders) {}

  run(name: string): Promise<string> {
    return this.orders.run(name);
  }
}

class Made extends Orders {}

@Controller()
class OrdersController {
  @Get(':name')
  @Locked('/locks/controller/:name')
  async run(@Param('name') name: string): Promise<string> {
    return `${name} ${currentLock()?.key}`;
  }
}

const PROVIDERS: Provider[] = [
  Orders,
  Caller,
  { provide: 'made', useFactory: () => new Made() },
  { provide: 'given', useFactory: () => new Made() },
];

async function start(
  instanceDecorator: Instrument,
  providers: Provider[] = PROVIDERS,
  controllers: Type[] = [],
): Promise<INestApplicationContext> {
  @Module({ imports: [DistributedLockModule.forRoot({ connect: memory() })], providers, controllers })
  class App {}
  return NestFactory.create(App, { instrument: { instanceDecorator }, logger: false, abortOnError: false }).then(
    (app) => app.init(),
  );
}

describe.each([
  ['calls methods on what is behind it', onTheTarget],
  ['calls methods on the Proxy', onTheProxy],
  ['has what is behind it filled, and calls methods on the Proxy', filledBehind],
  ['wraps methods', traced],
  ['calls methods on what is behind it, but for symbols', byNameAlone],
])("@Locked with Nest's option instrument, where the Proxy %s", (_, instrument) => {
  it('finds the connection of its own application, of two in one process', async () => {
    const applications = [await start(instrument), await start(instrument)];
    try {
      for (const app of applications) {
        const keys: string[] = [];
        const subscription = app
          .get(LockService)
          .events$.subscribe(({ type, key }) => type === 'acquired' && keys.push(key));
        expect(await app.get(Orders).run('a')).toBe('a /locks/a');
        expect(await app.get(Caller).run('b')).toBe('b /locks/b');
        expect(await app.get<Made>('made').run('c')).toBe('c /locks/c');
        subscription.unsubscribe();
        expect(keys).toEqual(['/locks/a', '/locks/b', '/locks/c']);
      }
    } finally {
      for (const app of applications) await app.close();
    }
  });

  it('checks at the start that every connection is there', async () => {
    class Elsewhere extends Caller {
      @Locked('/locks/a', { name: 'elsewhere' })
      override async run(): Promise<string> {
        return 'ran';
      }
    }
    const starting = start(instrument, [{ provide: 'made', useFactory: () => new Elsewhere(new Orders()) }]);
    await expect(starting).rejects.toThrow("asks for the connection 'elsewhere', and no DistributedLockModule");
  });

  it('gives an object of a factory the connection that its module may inject', async () => {
    @Module({
      imports: [DistributedLockModule.forRoot({ connect: memory(), isGlobal: false })],
      providers: [{ provide: 'made', useFactory: () => new Made() }],
    })
    class One {}
    @Module({
      imports: [DistributedLockModule.forRoot({ connect: memory(), isGlobal: false })],
      providers: [{ provide: 'other', useFactory: () => new Made() }],
    })
    class Other {}
    @Module({ imports: [One, Other] })
    class App {}
    const options = { instrument: { instanceDecorator: instrument }, logger: false, abortOnError: false } as const;
    const app = await NestFactory.createApplicationContext(App, options);
    try {
      expect(await app.get<Made>('made', { strict: false }).run('a')).toBe('a /locks/a');
      expect(await app.get<Made>('other', { strict: false }).run('a')).toBe('a /locks/a');
    } finally {
      await app.close();
    }
  });
});

it('@Locked works on a class with private members, and on controllers, behind such a Proxy', async () => {
  const applications = [
    await start(onTheTarget, [PrivateOrders], [OrdersController]),
    await start(onTheTarget, [PrivateOrders], [OrdersController]),
  ];
  for (const app of applications) {
    expect(await app.get(PrivateOrders).run('a')).toBe('private a /locks/private/a');
    expect(await app.get(OrdersController).run('b')).toBe('b /locks/controller/b');
  }
  for (const app of applications) await app.close();
});
