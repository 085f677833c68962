import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, type INestApplication, Param, UseFilters } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { from, lastValueFrom, Observable, toArray } from 'rxjs';
import { DistributedLockTestingModule, LockTesting } from '../../../lib/extras/testing/index.js';
import {
  CurrentLock,
  currentLock,
  injected,
  LockAbandonedError,
  LockExceptionFilter,
  type LockHandle,
  Locked,
  LockTimeoutError,
  Recover,
} from '../../../lib/index.js';
import { startApplication } from '../support/application.js';
import { recordRefusals, type Refusals } from '../support/refusals.js';

const KEY = '/accounts/42';
const PATH = '/accounts/:id';

abstract class Mending {
  readonly done: string[] = [];
  failsWith: Error | undefined;

  @Recover(PATH)
  protected async mend(lock: LockHandle, { id }: { id: string }): Promise<void> {
    if (this.failsWith !== undefined) throw this.failsWith;
    lock.assertHeld();
    // A call for the key from within shares the lock.
    await this.touch(id);
    this.done.push(`mended ${id} from ${String(lock.abandoned?.checkpoint)} in ${String(currentLock()?.key)}`);
  }

  @Locked(PATH)
  protected async touch(id: string): Promise<void> {
    this.done.push(`touched ${id}`);
  }
}

@Injectable()
class Accounts extends Mending {
  @Locked(PATH, { onAbandoned: 'recover' })
  async pay(id: string, @CurrentLock() lock: LockHandle = injected()): Promise<void> {
    await lock.checkpoint('paying');
    this.done.push(`paid ${id}`);
  }

  @Locked(PATH, { onAbandoned: 'recover' })
  list(id: string): Observable<string> {
    return from([id, 'listed']);
  }

  @Locked(PATH, { onAbandoned: 'recover' })
  async *rows(id: string): AsyncGenerator<string> {
    yield id;
    yield 'row';
  }

  @Locked(PATH, { onAbandoned: 'recover', onBusy: 'skip', waitMs: 0 })
  async skips(id: string): Promise<string | undefined> {
    return id;
  }

  @Locked(PATH, { onBusy: 'skip', waitMs: 0 })
  async cannotRecover(id: string): Promise<string | undefined> {
    return id;
  }
}

@Controller('accounts')
class AccountsController {
  @Get(':id/plain')
  @Locked(PATH, { onAbandoned: 'hold' })
  async plain(@Param('id') id: string): Promise<string> {
    return id;
  }

  @Get(':id/filtered')
  @UseFilters(LockExceptionFilter)
  @Locked(PATH, { onAbandoned: 'hold' })
  async filtered(@Param('id') id: string): Promise<string> {
    return id;
  }
}

describe('after a holder that vanished inside, a method with @Locked', () => {
  let app: INestApplication;
  let refusals: Refusals;
  let testing: LockTesting;
  let accounts: Accounts;
  const MENDED = ['touched 42', `mended 42 from half in ${KEY}`];

  beforeEach(async () => {
    const module = await Test.createTestingModule({
      imports: [DistributedLockTestingModule.forRoot()],
      controllers: [AccountsController],
      providers: [Accounts, { provide: 'made', useFactory: () => new Accounts() }],
    }).compile();
    app = module.createNestApplication({ logger: false });
    await app.init();
    refusals = recordRefusals();
    testing = app.get(LockTesting);
    accounts = app.get(Accounts);
  });
  afterEach(async () => {
    refusals[Symbol.dispose]();
    await app.close();
  });

  const abandon = (): Promise<void> => testing.abandon(KEY, { checkpoint: 'half' });

  it('runs its @Recover first, once, by an inherited method too, and where it gives a stream or an iteration', async () => {
    const runs: [string, (on: Accounts) => Promise<unknown>, unknown][] = [
      ['a promise', (on) => on.pay('42'), undefined],
      ['an Observable', (on) => lastValueFrom(on.list('42').pipe(toArray())), ['42', 'listed']],
      ['an async generator', (on) => lastValueFrom(from(on.rows('42')).pipe(toArray())), ['42', 'row']],
      ['one that skips', (on) => on.skips('42'), '42'],
    ];
    for (const on of [accounts, app.get<Accounts>('made')]) {
      for (const [what, run, result] of runs) {
        await abandon();
        on.done.length = 0;
        expect([what, await run(on)]).toEqual([what, result]);
        await run(on);
        expect([what, on.done.filter((one) => one !== 'paid 42')]).toEqual([what, MENDED]);
      }
    }
    expect(refusals.take().filter((line) => line.includes(KEY))).toHaveLength(8);
  });

  it("tells the error of its @Recover, also one that looks like a busy lock and with onBusy: 'skip', and the next call recovers", async () => {
    await abandon();
    for (const own of [new Error('cannot mend'), new LockTimeoutError('another lock', '/other')]) {
      accounts.failsWith = own;
      await expect(accounts.skips('42')).rejects.toBe(own);
    }
    accounts.failsWith = undefined;
    await accounts.pay('42');
    expect(accounts.done).toEqual([...MENDED, 'paid 42']);
  });

  it("is refused if it cannot recover, also with onBusy: 'skip': nobody is at it, so no other run makes up for this one", async () => {
    await testing.abandon(KEY, { onAbandoned: 'recover', checkpoint: 'half' });
    refusals.take();
    await expect(accounts.cannotRecover('42')).rejects.toThrow(LockAbandonedError);
    expect(refusals.take()).toEqual([expect.stringContaining(`The lock ${KEY} is closed: LockTesting on `)]);
    await accounts.pay('42');
    expect(await accounts.cannotRecover('42')).toBe('42');
  });

  it('is answered with 423 and a message that names nothing, and the log is warned once', async () => {
    await abandon();
    await app.listen(0, '127.0.0.1');
    refusals.take();
    const message = 'The lock is closed: what its last holder left behind must be repaired first';
    for (const [path, body] of [
      ['plain', { statusCode: 423, message }],
      ['filtered', { statusCode: 423, code: 'LOCK_ABANDONED', message }],
    ] as const) {
      const response = await fetch(`${await app.getUrl()}${KEY}/${path}`);
      expect(response.status).toBe(423);
      expect(response.headers.get('retry-after')).toBeNull();
      expect(await response.json()).toEqual(body);
      expect(refusals.take()).toEqual([expect.stringContaining(`The lock ${KEY} is closed: LockTesting on `)]);
    }
  });
});

describe('an application', () => {
  class Missing {
    @Locked(PATH, { onAbandoned: 'recover' })
    async pay(id: string): Promise<string> {
      return id;
    }
  }
  const NO_RECOVERY = `Missing has no method with @Recover('${PATH}'). There are none`;

  it("does not start with 'recover' and no @Recover for it, also for an object that a factory made", async () => {
    await expect(startApplication({ providers: [Missing] })).rejects.toThrow(NO_RECOVERY);
    const made = { provide: 'made', useFactory: () => new Missing() };
    await expect(startApplication({ providers: [made] })).rejects.toThrow(NO_RECOVERY);
    const imports = [DistributedLockTestingModule.forRoot()];
    const module = await Test.createTestingModule({ imports, providers: [Missing] }).compile();
    module.useLogger(false);
    await expect(module.init()).rejects.toThrow(NO_RECOVERY);
    await module.close();
  });

  it("does not start with a @Recover that no @Locked with 'recover' runs", async () => {
    class Idle {
      @Recover(PATH)
      async mend(): Promise<void> {}
    }
    await expect(startApplication({ providers: [Idle] })).rejects.toThrow(
      `@Recover('${PATH}') on Idle.mend would never`,
    );
    @Controller('idle')
    class IdleController extends Idle {}
    await expect(startApplication({ controllers: [IdleController] })).rejects.toThrow('on Idle.mend would never run');
  });
});
