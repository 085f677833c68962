import { checkLeaseMs, checkUpgradeOptions } from '../../lock/acquire-options.js';
import { answerWithinMs, Deadline } from '../../lock/deadline.js';
import { LockConfigurationError, type LockError, LockLostError } from '../../lock/errors.js';
import { LockHandle, type LockScope, type UpgradeOptions } from '../../lock/handle.js';
import { covers, type LockMode } from '../../lock/mode.js';
import { SessionError } from '../../session/errors.js';
import type { EngineContext } from '../context.js';
import type { Hold } from './hold.js';
import { Interrupt } from '../bounds/interrupt.js';
import { timeoutError } from '../bounds/timeouts.js';
import { upgradeHold } from './upgrade.js';

/** One handle on a hold; others may share it by re-entering. */
export class HeldLock extends LockHandle {
  readonly #context: EngineContext;
  readonly #hold: Hold;
  /** Who waits to be sure, through this handle. */
  readonly #waits = new Set<Interrupt>();
  #released: Promise<void> | undefined;

  constructor(context: EngineContext, hold: Hold) {
    super();
    this.#context = context;
    this.#hold = hold;
    hold.addHandle();
  }

  get key(): string {
    return this.#hold.request.key;
  }

  get mode(): LockMode {
    return this.#hold.mode;
  }

  get nodePath(): string {
    return this.#hold.place.path;
  }

  get fencingToken(): bigint {
    if (this.scope === 'fleet') return this.#hold.token;
    const text = `${this.key} is locked in this process only, because ZooKeeper cannot be reached (whenUnavailable: 'local'): there is no token`;
    throw new LockConfigurationError(text, this.key);
  }

  get scope(): LockScope {
    return this.#context.settings.scope;
  }

  get signal(): AbortSignal {
    return this.#hold.signal;
  }

  isHeld(): boolean {
    return this.#released === undefined && this.#hold.isHeld();
  }

  assertHeld(): void {
    const error = this.#hold.lossError();
    if (error !== undefined) throw error;
    if (this.#released !== undefined) throw this.#releasedError();
  }

  remainingMs(): number {
    return this.#released === undefined ? this.#hold.remainingMs() : 0;
  }

  async whenSure(): Promise<void> {
    const { session, uplink } = this.#context;
    this.assertHeld();
    if (uplink.isUp) return;
    const interrupt = new Interrupt();
    const stopListening = this.#hold.onLost((error) => interrupt.raise(error));
    this.#waits.add(interrupt);
    try {
      for (;;) {
        await uplink.whenUp(interrupt);
        try {
          await interrupt.guard(session.proveLife());
          this.assertHeld();
          return;
        } catch (error) {
          // The link went away again: wait on.
          if (!(error instanceof SessionError)) throw error;
        }
      }
    } finally {
      stopListening();
      this.#waits.delete(interrupt);
    }
  }

  extend(leaseMs: number): void {
    checkLeaseMs(leaseMs, this.key);
    this.assertHeld();
    this.#hold.extend(this, leaseMs);
  }

  async upgrade(options: UpgradeOptions = {}): Promise<void> {
    checkUpgradeOptions(options, this.key);
    this.assertHeld();
    if (covers(this.mode, 'write')) return;
    if (this.mode !== 'upgradeable') {
      const text = `Only an upgradeable lock can be upgraded; ${this.key} is held as ${this.mode}. Acquire it with mode 'upgradeable'`;
      throw new LockConfigurationError(text, this.key);
    }
    const { clock, settings, interrupts } = this.#context;
    const { waitMs = settings.waitMs, signal } = options;
    const deadline = Deadline.after(clock, answerWithinMs(waitMs));
    const timeIsUp = (waiting: Interrupt): LockError => timeoutError(this.#context, this.key, deadline, waiting);
    const interrupt = interrupts.open(this.key, deadline, signal, timeIsUp);
    const busy = (): LockError => {
      interrupt.isBehindOthers = true;
      return timeIsUp(interrupt);
    };
    try {
      await upgradeHold(this.#context, this.#hold, interrupt, waitMs === 0 ? busy : undefined);
      // Another's upgrade, which this one waited for, may have been long ago: whoever was told of it first may block the loop.
      this.assertHeld();
    } finally {
      interrupt.dispose();
    }
  }

  release(): Promise<void> {
    if (this.#released === undefined) {
      this.#released = this.#hold.removeHandle(this);
      for (const wait of this.#waits) wait.raise(this.#releasedError());
    }
    return this.#released;
  }

  #releasedError(): LockLostError {
    return new LockLostError(`This handle on ${this.key} has been released`, this.key);
  }
}
