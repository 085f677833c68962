import { openLockService, resolveOptions, type Surroundings, surroundingsInMemory, whenUp } from '../../open.js';
import type { LockService } from '../../engine/lock-service.js';
import type { ResolvedOptions } from '../../options.js';
import { EmbeddedEnsemble } from '../../session/simulator/embedded.js';

/** How long the other process waits: less than a test's time limit, so that the test fails with a reason. */
const WAIT_MS = 4_000;

type Others = ReturnType<typeof openLockService>;

/**
 * One server in memory with two entrances. The application uses the one where faults are made, the other process uses
 * the other one.
 */
export class TestingWorld {
  /** The application's entrance. */
  readonly entrance: EmbeddedEnsemble;
  /** The surroundings of the application's lock service. */
  readonly surroundings: Surroundings;
  readonly #options: ResolvedOptions;
  #others: Others | undefined;

  constructor(options: ResolvedOptions) {
    this.#options = options;
    this.entrance = new EmbeddedEnsemble({ tickMs: options.serverTickMs });
    this.surroundings = surroundingsInMemory(Promise.resolve(this.entrance));
  }

  /** Another process with the same options. It connects at the first call. */
  async others(): Promise<LockService> {
    this.#others ??= this.#openOthers();
    await whenUp(this.#others.session, WAIT_MS);
    return this.#others.service;
  }

  /** Ends the other process, and then the server. */
  async close(): Promise<void> {
    await this.#others?.service.close(0);
    this.entrance.stop();
  }

  #openOthers(): Others {
    const { sessionTimeoutMs, serverTickMs, namespace, acl, lockDelayMs } = this.#options;
    const itsOptions = resolveOptions({
      connect: 'memory:',
      memory: { allowInProduction: true },
      sessionTimeoutMs,
      serverTickMs,
      namespace,
      acl,
      lockDelayMs,
      waitMs: WAIT_MS,
    });
    // The second entrance keeps faults at the first one away from the other process.
    return openLockService(itsOptions, surroundingsInMemory(Promise.resolve(this.entrance.secondEntrance())));
  }
}
