import { openLockService, resolveOptions, type Surroundings, surroundingsInMemory, whenUp } from '../../open.js';
import type { LockService } from '../../engine/lock-service.js';
import type { ResolvedOptions } from '../../options.js';
import { EmbeddedEnsemble } from '../../session/simulator/embedded.js';

/** Somebody else's patience: within the time that a test may take, so that the test fails with a reason. */
const WAIT_MS = 4_000;

type Others = ReturnType<typeof openLockService>;

/**
 * One server in memory and two ways to it: the application comes in by the one that faults are made at, everybody else
 * by the other.
 */
export class TestingWorld {
  /** Where the application comes in. */
  readonly entrance: EmbeddedEnsemble;
  /** What the application's lock service stands on. */
  readonly surroundings: Surroundings;
  readonly #options: ResolvedOptions;
  #others: Others | undefined;

  constructor(options: ResolvedOptions) {
    this.#options = options;
    this.entrance = new EmbeddedEnsemble({ tickMs: options.serverTickMs });
    this.surroundings = surroundingsInMemory(Promise.resolve(this.entrance));
  }

  /** Another process with the same options; it connects when first asked for. */
  async others(): Promise<LockService> {
    this.#others ??= this.#openOthers();
    await whenUp(this.#others.session, WAIT_MS);
    return this.#others.service;
  }

  /** Takes everybody else away, and the server with them. */
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
    return openLockService(itsOptions, surroundingsInMemory(Promise.resolve(this.entrance.secondEntrance())));
  }
}
