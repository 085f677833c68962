const LENGTH_BYTES = 4;
const INITIAL_BYTES = 8 * 1024;
/** A buffer that one large frame has made grow beyond this is not kept for later small frames. */
const KEPT_BYTES = 64 * 1024;
/** UTF-8 needs at most this many bytes for one UTF-16 unit. */
const BYTES_PER_CHARACTER = 3;

/** Encodes frames one behind the other into a growing buffer, in Jute, ZooKeeper's serialization. */
export class JuteWriter {
  #bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  #position = 0;
  #frameStart = 0;

  /** The bytes of the whole frames and of the frame that was begun. */
  get length(): number {
    return this.#position;
  }

  /** The bytes that have been written. Later frames overwrite them unless `release` is called. */
  written(): Buffer {
    return this.#bytes.subarray(0, this.#position);
  }

  /** Starts over in the same memory. Nobody may read `written` any more. */
  reuse(): void {
    this.#position = 0;
    if (this.#bytes.length > KEPT_BYTES) this.release();
  }

  /** Starts over in new memory. The bytes of `written` stay with whoever holds them. */
  release(): void {
    this.#position = 0;
    this.#bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  }

  beginFrame(): void {
    this.#frameStart = this.#position;
    this.#reserve(LENGTH_BYTES);
    this.#position += LENGTH_BYTES;
  }

  /** How long the frame is so far, without the length in front. */
  get frameLength(): number {
    return this.#position - this.#frameStart - LENGTH_BYTES;
  }

  endFrame(): void {
    this.#bytes.writeInt32BE(this.frameLength, this.#frameStart);
  }

  /** Drops the frame that was begun. */
  dropFrame(): void {
    this.#position = this.#frameStart;
  }

  boolean(value: boolean): void {
    this.#reserve(1);
    this.#position = this.#bytes.writeUInt8(value ? 1 : 0, this.#position);
  }

  int(value: number): void {
    this.#reserve(4);
    this.#position = this.#bytes.writeInt32BE(value, this.#position);
  }

  long(value: bigint): void {
    this.#reserve(8);
    this.#position = this.#bytes.writeBigInt64BE(value, this.#position);
  }

  buffer(value: Uint8Array): void {
    this.#reserve(LENGTH_BYTES + value.length);
    const start = this.#bytes.writeInt32BE(value.length, this.#position);
    this.#bytes.set(value, start);
    this.#position = start + value.length;
  }

  /** Writes a text with `prefix` in front of it, without joining the two first. */
  string(value: string, prefix = ''): void {
    this.#reserve(LENGTH_BYTES + BYTES_PER_CHARACTER * (prefix.length + value.length));
    const start = this.#position + LENGTH_BYTES;
    let end = start;
    if (prefix !== '') end += this.#bytes.write(prefix, end, 'utf8');
    if (value !== '') end += this.#bytes.write(value, end, 'utf8');
    this.#bytes.writeInt32BE(end - start, this.#position);
    this.#position = end;
  }

  #reserve(count: number): void {
    const needed = this.#position + count;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(grown, 0, 0, this.#position);
    this.#bytes = grown;
  }
}
