const NOTHING = Buffer.alloc(0);
/** The length by which Java writes that a text, a buffer or a list is null. */
const NULL_LENGTH = -1;
const TWO_TO_32 = 2 ** 32;
/** Memory that is larger than this is not kept from one chunk of bytes to the next. */
const KEPT_BYTES = 64 * 1024;

/** The bytes of a connection break the protocol, so nothing behind them can be trusted. */
export class MalformedFrameError extends Error {
  override readonly name = 'MalformedFrameError';
}

/**
 * Reads Jute, ZooKeeper's serialization, from a part of a buffer. Every read is checked against the end of that part,
 * and every count against the bytes that are left, so that no input makes it loop or allocate more than the input's own
 * size.
 */
export class JuteReader {
  #bytes: Buffer = NOTHING;
  /**
   * The memory in which these bytes are. Node's own readers of integers are much slower, those of 64 bits above all. A socket reads into
   * the same memory again and again, so the view outlives the bytes.
   */
  #view = viewOf(NOTHING);
  /** Where in that memory the bytes begin. */
  #offset = 0;
  #position = 0;
  #end = 0;

  /** Reads from `bytes[start]` up to but not including `bytes[end]`. */
  reset(bytes: Buffer, start: number, end: number): void {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#offset = bytes.byteOffset;
      if (bytes.buffer !== this.#view.buffer) this.#view = viewOf(bytes);
    }
    this.#position = start;
    this.#end = end;
  }

  /** Drops the reference to the bytes, and to memory that was made for one large frame. */
  clear(): void {
    this.#bytes = NOTHING;
    this.#position = 0;
    this.#end = 0;
    if (this.#view.byteLength > KEPT_BYTES) this.#view = viewOf(NOTHING);
  }

  get remaining(): number {
    return this.#end - this.#position;
  }

  boolean(): boolean {
    return this.#bytes[this.#take(1)] !== 0;
  }

  int(): number {
    return this.#view.getInt32(this.#offset + this.#take(4));
  }

  long(): bigint {
    return this.#view.getBigInt64(this.#offset + this.#take(8));
  }

  /** A long that is known to be small, such as a time. It is exact up to 2 ** 53. */
  longAsNumber(): number {
    const start = this.#offset + this.#take(8);
    return this.#view.getInt32(start) * TWO_TO_32 + this.#view.getUint32(start + 4);
  }

  /** Returns a copy: the next bytes that arrive are read into the same memory. */
  buffer(): Buffer {
    const length = this.#length();
    const start = this.#take(length);
    return Buffer.from(this.#bytes.subarray(start, start + length));
  }

  string(): string {
    const length = this.#length();
    const start = this.#take(length);
    return this.#bytes.toString('utf8', start, start + length);
  }

  /** The number of elements of a list whose elements take at least `elementBytes` each. */
  count(elementBytes: number): number {
    const count = this.#length();
    if (count * elementBytes > this.remaining) {
      throw new MalformedFrameError(`a list of ${count} does not fit into the ${this.remaining} bytes that are left`);
    }
    return count;
  }

  /** @param isWanted tells by a text's bytes whether the text is made at all */
  strings(isWanted?: (bytes: Uint8Array, start: number, end: number) => boolean): string[] {
    const count = this.count(4);
    const texts: string[] = [];
    for (let read = 0; read < count; read += 1) {
      const length = this.#length();
      const start = this.#take(length);
      if (isWanted !== undefined && !isWanted(this.#bytes, start, start + length)) continue;
      texts.push(this.#bytes.toString('utf8', start, start + length));
    }
    return texts;
  }

  #length(): number {
    const length = this.int();
    if (length >= 0) return length;
    if (length === NULL_LENGTH) return 0;
    throw new MalformedFrameError(`a length of ${length}`);
  }

  #take(count: number): number {
    const start = this.#position;
    if (count > this.#end - start) {
      throw new MalformedFrameError(`${count} bytes expected where ${this.#end - start} are left`);
    }
    this.#position = start + count;
    return start;
  }
}

function viewOf({ buffer }: Buffer): DataView {
  return new DataView(buffer);
}
