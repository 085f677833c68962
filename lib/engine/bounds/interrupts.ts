import { LockAbortedError, type LockError } from '../../lock/errors.js';
import type { Deadline } from '../../lock/deadline.js';
import type { Alarms } from './alarms.js';
import { Interrupt } from './interrupt.js';
import { onAbort } from './on-abort.js';
import { Roster } from '../upkeep/roster.js';

/** Makes the interrupts of the requests that wait now, and can raise them all. */
export class Interrupts {
  readonly #alarms: Alarms;
  readonly #open = new Roster<Interrupt>();
  #onEmpty: (() => void) | undefined;

  constructor(alarms: Alarms) {
    this.#alarms = alarms;
  }

  /** `describeTimeout` says what it means that the time is up, at that time. Dispose of the interrupt when done. */
  open(
    key: string,
    deadline: Deadline,
    signal: AbortSignal | undefined,
    describeTimeout: (interrupt: Interrupt) => LockError,
  ): Interrupt {
    const interrupt = new Interrupt();
    // First, as it is the caller's own object: one that throws leaves nothing behind.
    if (signal !== undefined) {
      const text = `The wait for ${key} was aborted by the caller`;
      raiseOnAbort(interrupt, signal, (cause) => new LockAbortedError(text, key, { cause }));
    }
    interrupt.openedAt = deadline.clock.now();
    interrupt.endsAt = deadline.at;
    const alarm = this.#alarms.setAwaited(deadline.at, () => interrupt.raise(describeTimeout(interrupt)));
    this.#open.add(interrupt);
    interrupt.onDispose(() => {
      alarm.cancel();
      this.#open.delete(interrupt);
      if (this.#open.size === 0) this.#onEmpty?.();
    });
    return interrupt;
  }

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** Resolves when no request is under way, at once if so. Each has handed its leftovers to the janitor by then. */
  async whenEmpty(): Promise<void> {
    if (!this.isEmpty) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }

  raiseAll(error: (interrupt: Interrupt) => LockError): void {
    for (const interrupt of this.#open.all()) interrupt.raise(error(interrupt));
  }
}

/** `describe` makes the error of the signal's reason. At once, if the signal has aborted. */
export function raiseOnAbort(
  interrupt: Interrupt,
  signal: AbortSignal,
  describe: (reason: unknown) => LockError,
): void {
  const abort = (): void => interrupt.raise(describe(signal.reason));
  if (signal.aborted) {
    abort();
    return;
  }
  interrupt.onDispose(onAbort(signal, abort));
}
