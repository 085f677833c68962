import type { DistributedLockOptions, ResolvedOptions } from '../../options.js';
import { type ClosableLockService, createLockService } from '../../open.js';
import { EmbeddedEnsemble, nameEmbeddedEnsemble } from '../../session/simulator/embedded.js';

/** Somebody else's patience: within the time that a test may take, so that the test fails with a reason. */
const WAIT_MS = 4_000;

/**
 * One server in memory and two ways to it: the application comes in by the one that faults are made at, everybody else
 * by the other.
 */
export class TestingWorld {
  /** Where the application comes in. */
  readonly entrance: EmbeddedEnsemble;
  readonly #options: ResolvedOptions;
  readonly #othersConnect: string;
  readonly #forgetNames: readonly (() => void)[];
  #others: Promise<ClosableLockService> | undefined;

  constructor(options: ResolvedOptions) {
    this.#options = options;
    this.entrance = new EmbeddedEnsemble({ tickMs: options.serverTickMs });
    this.#othersConnect = `${options.connect}-others`;
    this.#forgetNames = [
      nameEmbeddedEnsemble(nameOf(options.connect), this.entrance),
      nameEmbeddedEnsemble(nameOf(this.#othersConnect), this.entrance.secondEntrance()),
    ];
  }

  /** Another process with the same options; it connects when first asked for. */
  others(): Promise<ClosableLockService> {
    this.#others ??= createLockService(this.#optionsOfOthers());
    return this.#others;
  }

  /** Takes everybody else away, and the server with them. */
  async close(): Promise<void> {
    const others = await this.#others;
    await others?.close(0);
    this.entrance.stop();
    for (const forget of this.#forgetNames) forget();
  }

  #optionsOfOthers(): DistributedLockOptions {
    const { sessionTimeoutMs, serverTickMs, namespace, acl, lockDelayMs } = this.#options;
    return {
      connect: this.#othersConnect,
      memory: { allowInProduction: true },
      sessionTimeoutMs,
      serverTickMs,
      namespace,
      acl,
      lockDelayMs,
      waitMs: WAIT_MS,
    };
  }
}

function nameOf(connect: string): string {
  return connect.slice('memory:'.length);
}
