import { MalformedFrameError } from './malformed-frame-error.js';

const LENGTH_BYTES = 4;
/** A list of half a million children fits; what claims more is no ZooKeeper, or no friend. */
const MAX_FRAME_BYTES = 32 * 1024 * 1024;
/** What is set aside at first for a frame that comes in pieces: a length alone must not cost memory. */
const FIRST_BYTES = 64 * 1024;
const NOTHING = Buffer.alloc(0);

/** Takes whole frames: `bytes[start]` up to, not including, `bytes[end]`, which stay as they are for good. */
export interface FrameSink {
  onFrame(bytes: Buffer, start: number, end: number): void;
}

/** Cuts a stream of bytes into frames, each behind its length. A frame that lies whole in a chunk is not copied. */
export class FrameSplitter {
  readonly #sink: FrameSink;
  /** The frame that is coming in pieces, from its length on. */
  #partial = NOTHING;
  #partialLength = 0;
  #stopped = false;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** Hands on every frame that `chunk` completes. @throws MalformedFrameError for an impossible length */
  push(chunk: Buffer): void {
    let position = this.#partialLength === 0 ? 0 : this.#complete(chunk);
    let missing = LENGTH_BYTES;
    while (!this.#stopped && chunk.length - position >= LENGTH_BYTES) {
      missing = LENGTH_BYTES + frameLength(chunk, position);
      if (missing > chunk.length - position) break;
      const start = position + LENGTH_BYTES;
      position += missing;
      missing = LENGTH_BYTES;
      this.#sink.onFrame(chunk, start, position);
    }
    if (!this.#stopped && position < chunk.length) this.#keep(chunk, position, chunk.length, missing);
  }

  /** Hands on nothing any more, not even what is left of the chunk being pushed. */
  stop(): void {
    this.#stopped = true;
    this.#forgetPartial();
  }

  /** Adds to the partial frame what the chunk has of it. @returns how much of the chunk that was */
  #complete(chunk: Buffer): number {
    const position = this.#fill(chunk, 0, LENGTH_BYTES);
    if (this.#partialLength < LENGTH_BYTES) return position;
    const whole = LENGTH_BYTES + frameLength(this.#partial, 0);
    const end = this.#fill(chunk, position, whole);
    if (this.#partialLength === whole) {
      const frame = this.#partial;
      this.#forgetPartial();
      this.#sink.onFrame(frame, LENGTH_BYTES, whole);
    }
    return end;
  }

  /** Makes the partial frame `whole` bytes long, or as long as the chunk allows. @returns where in the chunk that ends */
  #fill(chunk: Buffer, start: number, whole: number): number {
    const end = Math.min(start + Math.max(0, whole - this.#partialLength), chunk.length);
    if (end > start) this.#keep(chunk, start, end, whole);
    return end;
  }

  /** Room is doubled, so that a frame in many pieces is not copied once for each, but never beyond what it needs. */
  #keep(chunk: Buffer, start: number, end: number, whole: number): void {
    const needed = this.#partialLength + end - start;
    if (needed > this.#partial.length) {
      const room = Math.min(whole, Math.max(needed, FIRST_BYTES, 2 * this.#partial.length));
      const grown = Buffer.allocUnsafeSlow(room);
      this.#partial.copy(grown, 0, 0, this.#partialLength);
      this.#partial = grown;
    }
    chunk.copy(this.#partial, this.#partialLength, start, end);
    this.#partialLength = needed;
  }

  #forgetPartial(): void {
    this.#partial = NOTHING;
    this.#partialLength = 0;
  }
}

function frameLength(bytes: Buffer, at: number): number {
  const length = bytes.readInt32BE(at);
  if (length >= 0 && length <= MAX_FRAME_BYTES) return length;
  throw new MalformedFrameError(`a frame of ${length} bytes${guess(bytes[at])}`);
}

/** What a stranger's first bytes, read as a length, are most often. */
function guess(firstByte: number | undefined): string {
  const TLS_ALERT = 0x15;
  const TLS_HANDSHAKE = 0x16;
  const LETTER_H = 0x48;
  if (firstByte === TLS_ALERT || firstByte === TLS_HANDSHAKE) return ' (TLS: is this a secureClientPort?)';
  if (firstByte === LETTER_H) return ' (HTTP: is this the client port?)';
  return '';
}
