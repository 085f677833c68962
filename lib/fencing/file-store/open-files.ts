import { InTurn } from '../../lock/in-turn.js';
import type { FencedFile } from './fenced-file.js';

/**
 * The files that are in use, and those that were used last. A file stays open so that its next use reads only what is new.
 * More than `maxOpen` files are open only while more are in use at the same time.
 */
export class OpenFiles {
  /** By the time of their last use, the latest one last. */
  readonly #files = new Map<string, FencedFile>();
  readonly #turns = new InTurn();

  constructor(
    private readonly maxOpen: number,
    private readonly make: (resource: string) => FencedFile,
  ) {}

  async use<T>(resource: string, operation: (file: FencedFile) => Promise<T>): Promise<T> {
    const file = this.#files.get(resource) ?? this.make(resource);
    this.#files.delete(resource);
    this.#files.set(resource, file);
    try {
      return await this.#turns.run(resource, () => operation(file));
    } finally {
      // A file that was never written has nothing to keep.
      if (this.#turns.isIdle(resource) && !file.isInUse) this.#files.delete(resource);
      await this.#closeSome();
    }
  }

  /** Resolves when all that is under way is done, and all files are closed. */
  async close(): Promise<void> {
    await Promise.all([...this.#files].map(([resource, file]) => this.#turns.run(resource, () => file.close())));
    this.#files.clear();
  }

  async #closeSome(): Promise<void> {
    for (const [resource, file] of this.#files) {
      if (this.#files.size <= this.maxOpen) return;
      // A file that is in use is not closed under its user: more files than the limit stay open until then.
      if (!this.#turns.isIdle(resource)) continue;
      this.#files.delete(resource);
      await file.close();
    }
  }
}
