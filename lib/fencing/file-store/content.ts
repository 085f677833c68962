import { LockConfigurationError } from '../../lock/errors.js';
import { onOneLine } from '../shown.js';

/**
 * The most that one file may have. The store keeps the whole file in memory, makes and reads each record in one go, and
 * begins each journal with the whole file. The event loop stands still meanwhile, for about 10 ms with each MiB.
 */
export const MAX_CONTENT_BYTES = 16 * 1024 * 1024;

/** @throws LockConfigurationError */
export function assertFits(resource: string, bytes: number): void {
  if (bytes <= MAX_CONTENT_BYTES) return;
  throw new LockConfigurationError(
    `${onOneLine(resource)} would have ${bytes} bytes; FencedFileStore takes ${MAX_CONTENT_BYTES} at most, as it keeps each file ` +
      'in memory. Nothing was written. Split it, or keep the content elsewhere under a name of its own and write that name',
    resource,
  );
}

/** The bytes of a file, to which many small pieces can be added without copying the whole each time. */
export class Content {
  #pieces: Uint8Array[];
  #length: number;

  constructor(bytes: Uint8Array) {
    this.#pieces = [bytes];
    this.#length = bytes.length;
  }

  get length(): number {
    return this.#length;
  }

  add(bytes: Uint8Array): void {
    this.#pieces.push(bytes);
    this.#length += bytes.length;
  }

  /** The bytes in one piece, which the caller may change. */
  copy(): Buffer {
    const whole = Buffer.concat(this.#pieces, this.#length);
    if (this.#pieces.length > 1) this.#pieces = [Buffer.from(whole)];
    return whole;
  }
}
