import type { Grant } from './grants.js';
import type { Judge } from './judge.js';
import type { Scenario } from './scenario.js';

/** After a writing holder that vanished, the next one enters only when the module's lock-delay has passed. */
export class LockDelays {
  readonly #vanished = new Map<string, { readonly atMs: number; readonly asksForDelay: boolean }>();

  constructor(
    private readonly scenario: Scenario,
    private readonly now: () => number,
    private readonly judge: Judge,
  ) {}

  vanished({ mode, asksForDelay }: Grant, queuePath: string): void {
    if (mode === 'exclusive' || mode === 'write') this.#vanished.set(queuePath, { atMs: this.now(), asksForDelay });
  }

  /** An operator has said that nothing was left behind. */
  cleared(queuePath: string): void {
    this.#vanished.delete(queuePath);
  }

  /** An upgrade has made a writer of one that entered as a sharer: it was told, and what it leaves is its own. */
  upgraded(queuePath: string): void {
    this.#vanished.delete(queuePath);
  }

  entered({ name, mode, asksForDelay, path }: Grant): void {
    const queuePath = path.slice(0, path.lastIndexOf('/'));
    const vanished = this.#vanished.get(queuePath);
    if (vanished === undefined) return;
    const waitedMs = this.now() - vanished.atMs;
    if ((vanished.asksForDelay || asksForDelay) && waitedMs < this.scenario.lockDelayMs)
      this.judge.blame('lock-delay', `${name} entered ${waitedMs} ms after a holder that vanished`);
    // A writer was told, and what it leaves is its own.
    if (mode === 'exclusive' || mode === 'write') this.#vanished.delete(queuePath);
  }
}
