import { filter, firstValueFrom } from 'rxjs';
import type { LockService } from '../../engine/lock-service.js';
import { resolveModuleOptions } from '../../nest/distributed-lock-options.js';
import { DEFAULT_CONNECTION } from '../../nest/lock-service-token.js';
import { ManagedLockService } from '../../nest/managed-lock-service.js';
import { type OpenedLockService, openLockService, resolveOptions, surroundingsInMemory, whenUp } from '../../open.js';
import type { DistributedLockOptions, ResolvedOptions } from '../../options.js';
import { EmbeddedEnsemble } from '../../session/simulator/embedded.js';

/**
 * Every option of the module, so that a test may pass the application's own options. Those for the connection do not
 * count: this module sets `connect` and `serverTickMs` itself, and needs no `acl` or `tls`.
 */
export interface LockTestingOptions extends Partial<DistributedLockOptions> {
  /** The name of the connection, as in `DistributedLockModule.forRoot`. @default 'default' */
  readonly name?: string;
  /**
   * How long the application waits for a busy lock, in milliseconds: well within a test's time limit.
   * @default 1000
   */
  readonly waitMs?: number;
  /**
   * About how long a lock outlives a suspended connection, in milliseconds. With a small value a test can wait for the
   * loss (`suspend()`, `untilState('lost')`). The default outlives every pause of a busy test machine.
   * @default 10000
   */
  readonly sessionTimeoutMs?: number;
}

const WAIT_MS = 1_000;
const SESSION_TIMEOUT_MS = 10_000;
/** Certainty is computed in the server's ticks, so a session has to last for several. */
const TICKS_PER_SESSION = 5;

/**
 * The options of an application's lock service under test. Its ensemble is passed separately, so its name in memory
 * does not count.
 */
export function resolveTestingOptions({ name = DEFAULT_CONNECTION, ...options }: LockTestingOptions): ResolvedOptions {
  const { sessionTimeoutMs = SESSION_TIMEOUT_MS, waitMs = WAIT_MS } = options;
  return resolveModuleOptions(name, {
    ...options,
    connect: 'memory:',
    // Tests may run with the NODE_ENV of production. Nobody uses this module by accident.
    memory: { allowInProduction: true },
    sessionTimeoutMs,
    serverTickMs: Math.max(1, Math.floor(sessionTimeoutMs / TICKS_PER_SESSION)),
    waitMs,
    // The other process of `LockTesting` must be able to join the same queues, with or without credentials.
    acl: 'open',
  });
}

/** How long the other process waits: less than a test's time limit, so that the test fails with a reason. */
const OTHERS_WAIT_MS = 4_000;

/**
 * One server in memory with two entrances. The application uses the one where faults are made, the other process uses
 * the other one.
 */
class TestingWorld {
  /** The application's entrance. */
  readonly entrance: EmbeddedEnsemble;
  readonly #options: ResolvedOptions;
  #others: OpenedLockService | undefined;

  constructor(options: ResolvedOptions) {
    this.#options = options;
    this.entrance = new EmbeddedEnsemble({ tickMs: options.serverTickMs });
  }

  /** Another process with the same options. It connects at the first call. */
  async others(): Promise<LockService> {
    this.#others ??= this.#openOther(this.entrance.secondEntrance());
    await whenUp(this.#others.session, OTHERS_WAIT_MS);
    return this.#others.service;
  }

  /** One more process, which does as it is told, and then dies. Its locks stay until the server ends its session. */
  async dying(work: (locks: LockService) => Promise<unknown>): Promise<void> {
    const entrance = this.entrance.secondEntrance();
    const { service, session } = this.#openOther(entrance);
    try {
      await whenUp(session, OTHERS_WAIT_MS);
      await work(service);
      // The wait begins before the fault, or the state could pass unseen.
      const isDead = firstValueFrom(service.connectionState$.pipe(filter((state) => state === 'lost')));
      entrance.expire();
      await isDead;
    } finally {
      await service.close(0);
    }
  }

  /** Ends the other process, and then the server. */
  async close(): Promise<void> {
    await this.#others?.service.close(0);
    this.entrance.stop();
  }

  #openOther(entrance: EmbeddedEnsemble): OpenedLockService {
    const { sessionTimeoutMs, serverTickMs, namespace, acl, lockDelayMs } = this.#options;
    const itsOptions = resolveOptions({
      connect: 'memory:',
      memory: { allowInProduction: true },
      sessionTimeoutMs,
      serverTickMs,
      namespace,
      acl,
      lockDelayMs,
      waitMs: OTHERS_WAIT_MS,
    });
    // The second entrance keeps faults at the first one away from the other process.
    return openLockService(itsOptions, surroundingsInMemory(Promise.resolve(entrance)), 'another process');
  }
}

/** The module's own lock service, over a server in memory that lives and ends with it. */
export class TestingLockService extends ManagedLockService {
  readonly world: TestingWorld;

  constructor(name: string, options: ResolvedOptions) {
    super(name, options);
    this.world = new TestingWorld(options);
  }

  /** Does not warn about locks in memory: whoever uses this module knows that they exclude no other process. */
  protected override judgeOptions(): void {}

  protected override openService(): OpenedLockService {
    const inMemory = surroundingsInMemory(Promise.resolve(this.world.entrance));
    return openLockService(this.options, inMemory, this.name);
  }

  override async abandonStart(): Promise<void> {
    await super.abandonStart();
    await this.world.close();
  }

  override async onApplicationShutdown(): Promise<void> {
    // A test may leave the connection suspended, and the session ends at once only over a link.
    this.world.entrance.accept();
    await super.onApplicationShutdown();
    await this.world.close();
  }
}
