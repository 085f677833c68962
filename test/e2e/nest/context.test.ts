import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  CurrentLock,
  currentLock,
  detached,
  injected,
  LockConfigurationError,
  type LockHandle,
  Locked,
  LockService,
} from '../../../lib/index.js';
import { startApplication, type TestApplication } from '../support/application.js';
import { Gate } from '../support/gate.js';
import { telling } from '../../support/telling.js';

/** As query builders are: nothing runs before somebody waits for it. */
class LazyQuery<T> implements PromiseLike<T> {
  constructor(private readonly run: () => T) {}

  then<A = T, B = never>(
    done?: ((value: T) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return Promise.resolve(this.run()).then(done, failed);
  }
}

@Injectable()
class Service {
  late: Promise<LockHandle | undefined> | undefined;

  constructor(private readonly locks: LockService) {}

  @Locked('/locks/query')
  query(): LazyQuery<string | undefined> {
    return new LazyQuery(() => currentLock()?.key);
  }

  @Locked('/locks/a')
  async leavesWorkBehind(gate: Gate): Promise<void> {
    this.late = gate.pass().then(() => currentLock());
  }

  @Locked('/locks/a')
  async nested(): Promise<bigint[]> {
    const own = currentLock()?.fencingToken ?? 0n;
    return [own, await this.inner(), await this.locks.withLock('/locks/a', (lock) => lock.fencingToken)];
  }

  @Locked('/locks/a')
  async inner(): Promise<bigint> {
    return currentLock()?.fencingToken ?? 0n;
  }

  @Locked('/locks/a')
  async siblings(): Promise<bigint[]> {
    return Promise.all([this.inner(), this.inner()]);
  }

  @Locked('/locks/a')
  async refusesItself(): Promise<void> {
    await this.alone();
  }

  @Locked('/locks/a', { reentrant: false })
  async alone(): Promise<void> {}

  @Locked('/locks/outer')
  async outer(): Promise<unknown[]> {
    return this.within();
  }

  @Locked('/locks/within')
  async within(@CurrentLock() lock: LockHandle = injected()): Promise<unknown[]> {
    return [
      currentLock() === lock,
      currentLock(({ key }) => key === '/locks/outer')?.key,
      currentLock(({ key }) => key === '/elsewhere'),
      detached(() => currentLock()),
    ];
  }
}

describe('the lock around the code that runs', () => {
  let application: TestApplication;
  let service: Service;
  beforeAll(async () => {
    application = await startApplication({ providers: [Service] });
    service = application.get(Service);
  });
  afterAll(() => application.app.close());

  it('is there for a lazy thenable, which starts when it is waited for', async () => {
    expect(await service.query()).toBe('/locks/query');
  });

  it('is gone for a promise that outlives it', async () => {
    const gate = new Gate();
    await service.leavesWorkBehind(gate);
    gate.open();

    expect(await service.late).toBeUndefined();
  });

  it('is shared by nested calls on the same key: the same token', async () => {
    const [own, inner, imperative] = await service.nested();

    expect(own).toBeGreaterThan(0n);
    expect([inner, imperative]).toEqual([own, own]);
  });

  it('is shared by siblings of Promise.all inside it', async () => {
    const [left, right] = await service.siblings();

    expect(left).toBe(right);
  });

  it('is refused at once with reentrant: false, rather than waited for', async () => {
    await expect(service.refusesItself()).rejects.toThrow(LockConfigurationError);
    await expect(service.refusesItself()).rejects.toThrow(telling('it would wait for itself'));
  });

  it('is the innermost, or the innermost that fits; none in what is detached', async () => {
    expect(await service.outer()).toEqual([true, '/locks/outer', undefined, undefined]);
  });
});

describe('two connections', () => {
  it('do not share a lock of the same key', async () => {
    await using one = await startApplication({ providers: [Service] });
    await using other = await startApplication({});

    const tokens = await one.locks.withLock('/locks/a', (outer) =>
      other.locks.withLock('/locks/a', (inner) => inner === outer),
    );
    expect(tokens).toBe(false);
  });
});
