import { describe, expect, it } from '@jest/globals';
import { Controller, Injectable, Scope } from '@nestjs/common';
import {
  CurrentLock,
  DistributedLockModule,
  Fence,
  injected,
  type LockHandle,
  Locked,
  LockKey,
} from '../../../lib/index.js';
import { memory, startApplication } from '../support/application.js';

describe('the application', () => {
  it.each([
    ['@Fence()', Fence()],
    ['@CurrentLock()', CurrentLock()],
    [`@LockKey('id')`, LockKey('id')],
  ])('does not start with %s where no @Locked is beside it', async (shown, decorator) => {
    @Injectable()
    class Service {
      async run(@decorator value: unknown): Promise<unknown> {
        return value;
      }
    }

    await expect(startApplication({ providers: [Service] })).rejects.toThrow(
      `${shown} on Service.run has no @Locked beside it`,
    );
  });

  it('does not start with @Fence on a controller, on a class that lives for one request, or inherited', async () => {
    @Controller()
    class Lonely {
      async run(@Fence() token: bigint = injected()): Promise<bigint> {
        return token;
      }
    }
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest extends Lonely {}

    await expect(startApplication({ controllers: [Lonely] })).rejects.toThrow('@Fence() on Lonely.run');
    await expect(startApplication({ providers: [PerRequest] })).rejects.toThrow('@Fence() on Lonely.run');
    const made = { provide: 'made', useFactory: () => new Lonely() };
    await expect(startApplication({ providers: [made] })).rejects.toThrow('@Fence() on Lonely.run');
  });

  it('does not start with a @LockKey that binds nothing', async () => {
    @Injectable()
    class Service {
      @Locked('/locks/:orderId')
      async run(@LockKey('orderID') orderId: string): Promise<string> {
        return orderId;
      }
    }

    await expect(startApplication({ providers: [Service] })).rejects.toThrow(
      "@LockKey('orderID') on Service.run binds no placeholder of its @Locked: is the name misspelt?",
    );
  });

  it('does not start with a connection that is not there, also for an object that a factory made', async () => {
    class Service {
      @Locked('/locks/a', { name: 'reprots' })
      async run(): Promise<void> {
        await Promise.resolve();
      }
    }
    const made = { provide: 'made', useFactory: () => new Service() };

    await expect(startApplication({ providers: [made] })).rejects.toThrow(
      "@Locked on Service.run asks for the connection 'reprots', and no DistributedLockModule of the application has that name",
    );
    const stub = Object.assign(Object.create(Service.prototype) as Service, { run: async () => undefined });
    await using stubbed = await startApplication({ providers: [{ provide: 'stub', useValue: stub }] });
    expect(await stubbed.get<Service>('stub').run()).toBeUndefined();
    const reports = DistributedLockModule.forRoot({ connect: memory(), name: 'reprots' });
    await using application = await startApplication({ providers: [made], imports: [reports] });
    await application.get<Service>('made').run();
  });

  it("does not start with @Fence where whenUnavailable is 'local': such a lock has no token", async () => {
    @Injectable()
    class Fenced {
      @Locked('/locks/a')
      async run(@Fence() token: bigint = injected()): Promise<bigint> {
        return token;
      }
    }
    @Injectable()
    class Handled {
      @Locked('/locks/a')
      async run(@CurrentLock() lock: LockHandle = injected()): Promise<string> {
        return lock.key;
      }
    }
    const options = { connect: memory(), whenUnavailable: 'local' } as const;

    await expect(startApplication({ providers: [Fenced] }, options)).rejects.toThrow(
      "@Fence() on Fenced.run and whenUnavailable: 'local' exclude each other",
    );
    await using application = await startApplication({ providers: [Handled] }, options);
    expect(await application.get(Handled).run()).toBe('/locks/a');
  });
});
