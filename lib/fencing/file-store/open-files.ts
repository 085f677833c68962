import { InTurn } from '../in-turn.js';
import type { FencedFile } from './fenced-file.js';

interface Entry {
  readonly file: FencedFile;
  readonly turns: InTurn;
}

/**
 * The files that are in use, and those that were used last. A file stays open so that its next use reads only what is new.
 * More than `maxOpen` files are open only while more are in use at the same time.
 */
export class OpenFiles {
  /** By the time of their last use, the latest one last. */
  readonly #entries = new Map<string, Entry>();

  constructor(
    private readonly maxOpen: number,
    private readonly make: (resource: string) => FencedFile,
  ) {}

  async use<T>(resource: string, operation: (file: FencedFile) => Promise<T>): Promise<T> {
    const entry = this.#entries.get(resource) ?? { file: this.make(resource), turns: new InTurn() };
    this.#entries.delete(resource);
    this.#entries.set(resource, entry);
    try {
      return await entry.turns.run(() => operation(entry.file));
    } finally {
      this.#forget(resource, entry);
      await this.#closeSome();
    }
  }

  /** Resolves when all that is under way is done, and all files are closed. */
  async close(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ file, turns }) => turns.run(() => file.close())));
    this.#entries.clear();
  }

  /** A file that was never written has nothing to keep. */
  #forget(resource: string, { file, turns }: Entry): void {
    if (turns.isIdle && !file.isInUse) this.#entries.delete(resource);
  }

  async #closeSome(): Promise<void> {
    for (const [resource, { file, turns }] of this.#entries) {
      if (this.#entries.size <= this.maxOpen) return;
      // A file that is in use is not closed under its user: more files than the limit stay open until then.
      if (!turns.isIdle) continue;
      this.#entries.delete(resource);
      await file.close();
    }
  }
}
