import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { LockConfigurationError } from '../../../../lib/lock/errors.js';
import type { LockHandle } from '../../../../lib/lock/handle.js';
import { Locked } from '../../../../lib/nest/locked/locked.decorator.js';
import { checkRecoveries } from '../../../../lib/nest/locked/recoveries.js';
import { Recover } from '../../../../lib/nest/locked/recover.decorator.js';
import { RecordingService } from './recording-service.js';

const PATH = '/locks/:id';
type Decorate = (target: object, name: string, descriptor?: unknown) => void;

/** As code without types would call it. */
function decorate(target: object, descriptor: unknown, ...args: unknown[]): () => void {
  return () => (Recover as unknown as (...args: unknown[]) => Decorate)(...args)(target, 'mend', descriptor);
}

class Ledger {
  readonly told: unknown[] = [];

  @Locked(PATH, { onAbandoned: 'recover' })
  async pay(id: string): Promise<string> {
    return id;
  }

  @Recover(PATH)
  async mend(lock: LockHandle, values: { id: string }): Promise<void> {
    this.told.push([lock.key, values]);
  }
}

/** What the call of a decorated method hands to the lock service. */
async function recoverOf(ledger: Ledger): Promise<(lock: LockHandle) => Promise<void>> {
  const service = RecordingService.in(ledger);
  await ledger.pay('a/b');
  expect(service.options).toMatchObject([{ onAbandoned: 'recover' }]);
  return service.options[0]!.recover as (lock: LockHandle) => Promise<void>;
}

const lockOf = (key: string): LockHandle => ({ key }) as LockHandle;

describe('@Recover', () => {
  it('is handed to the lock with each call, and told the instance and the values of the key', async () => {
    const ledger = new Ledger();
    await (
      await recoverOf(ledger)
    )(lockOf('/locks/a%2Fb'));
    expect(ledger.told).toEqual([['/locks/a%2Fb', { id: 'a/b' }]]);
  });

  it('is inherited, and may be overridden by a method that has it, too', async () => {
    class Inherited extends Ledger {}
    class Overridden extends Ledger {
      @Recover(PATH)
      override async mend(lock: LockHandle, values: { id: string }): Promise<void> {
        this.told.push('first');
        await super.mend(lock, values);
      }
    }
    for (const made of [new Inherited(), new Overridden()]) {
      checkRecoveries(Object.getPrototypeOf(made) as object);
      await (
        await recoverOf(made)
      )(lockOf('/locks/x'));
      expect(made.told.at(-1)).toEqual(['/locks/x', { id: 'x' }]);
    }
  });

  it('is dropped by an override without it, as a lock is', async () => {
    class Bare extends Ledger {
      override async mend(): Promise<void> {}
    }
    expect(() => checkRecoveries(Bare.prototype)).toThrow(
      "@Locked('/locks/:id') on Ledger.pay has onAbandoned: 'recover', and Bare has no method with @Recover('/locks/:id'). There are none",
    );
    Logger.overrideLogger(false);
    const bare = new Bare();
    const service = RecordingService.in(bare);
    await expect(bare.pay('x')).rejects.toThrow('Bare has no method with');
    expect(service.keys).toEqual([]);
  });

  it('may be a spy of a test', async () => {
    const spied = Object.assign(new Ledger(), { mend: async () => void spied.told.push('spy') });
    await (
      await recoverOf(spied)
    )(lockOf('/locks/x'));
    expect(spied.told).toEqual(['spy']);
  });

  it('may stand in the subclass, where the abstract one has @Locked, and above a method of several paths', () => {
    abstract class Base {
      @Locked('/locks/a', { onAbandoned: 'recover' })
      async one(): Promise<void> {}

      @Locked('/locks/b', { onAbandoned: 'recover', name: 'other' })
      async two(): Promise<void> {}
    }
    class Concrete extends Base {
      @Recover('/locks/a')
      @Recover('/locks/b', { name: 'other' })
      async mend(): Promise<void> {}
    }
    expect(() => checkRecoveries(Concrete.prototype)).not.toThrow();
    expect(() => checkRecoveries(Base.prototype)).toThrow('Base has no method with');
  });

  it('is refused where nothing would run it, with those that there are', () => {
    class Idle {
      @Locked(PATH, { onAbandoned: 'hold' })
      async pay(id: string): Promise<string> {
        return id;
      }

      @Recover(PATH)
      async mend(): Promise<void> {}
    }
    expect(() => checkRecoveries(Idle.prototype)).toThrow(
      "@Recover('/locks/:id') on Idle.mend would never run: no @Locked of Idle has this path, this connection and " +
        "onAbandoned: 'recover'. Those with 'recover' are none",
    );
    class Misspelt {
      @Locked(PATH, { onAbandoned: 'recover', name: 'reports' })
      async pay(id: string): Promise<string> {
        return id;
      }

      @Recover(PATH)
      async mend(): Promise<void> {}
    }
    expect(() => checkRecoveries(Misspelt.prototype)).toThrow(
      "Misspelt has no method with @Recover('/locks/:id', { name: 'reports' }). There are: @Recover('/locks/:id') on Misspelt.mend",
    );
  });

  it('is refused twice for one path, in the class or below it', () => {
    const define = (): unknown => {
      class Twice extends Ledger {
        @Recover(PATH)
        async repair(): Promise<void> {}
      }
      return Twice;
    };
    expect(define).toThrow("@Recover('/locks/:id') on Twice.repair: Ledger.mend recovers this path already");
  });

  it('fails the call where it returns an Observable, as nobody would subscribe', async () => {
    const ledger = Object.assign(new Ledger(), { mend: () => ({ subscribe: () => undefined, lift: () => undefined }) });
    const recover = await recoverOf(ledger);
    await expect(recover(lockOf('/locks/x'))).rejects.toThrow('Ledger.mend returned an Observable');
  });

  it.each<[string, object, unknown, unknown[], string]>([
    ['a static method', Ledger, { value: async () => undefined }, [PATH], 'a static method'],
    ['an accessor', {}, { get: () => 1 }, [PATH], 'an accessor cannot recover anything'],
    ['an arrow function in a property', {}, undefined, [PATH], 'a property is not a method'],
    ['a generator', {}, { value: function* () {} }, [PATH], 'a generator does nothing'],
    ['an async generator', {}, { value: async function* () {} }, [PATH], 'a generator does nothing'],
    ['a path that is none', {}, { value: async () => undefined }, ['locks/:id'], 'Not a lock key: "locks/:id"'],
    ['no path', {}, { value: async () => undefined }, [undefined], 'the argument must be the path of its @Locked'],
    ['an unknown option', {}, { value: async () => undefined }, [PATH, { nam: 'x' }], 'Did you mean name?'],
  ])('refuses %s', (_what, target, descriptor, args, text) => {
    const define = decorate(target, descriptor, ...args);
    expect(define).toThrow(LockConfigurationError);
    expect(define).toThrow(text);
  });

  it('refuses missing parentheses', () => {
    const bare = Recover as unknown as Decorate;
    expect(() => bare(Ledger.prototype, 'mend', { value: () => undefined })).toThrow(
      '@Recover above Ledger.mend has no parentheses, so it has no path and would recover nothing',
    );
  });
});
