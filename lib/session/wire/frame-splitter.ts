import { MAX_ANSWER_BYTES } from '../errors.js';
import { MalformedFrameError } from './jute-reader.js';

const LENGTH_BYTES = 4;
/** How much of a too large frame is kept: the header of a reply, and the number of children in a list. */
const BEGINNING_BYTES = 20;
/** How much memory a frame that comes in pieces gets at first. A length alone must not cost memory. */
const FIRST_BYTES = 64 * 1024;
const NOTHING = Buffer.alloc(0);

/**
 * Receives whole frames, from `bytes[start]` up to but not including `bytes[end]`, which are valid during the call only.
 */
export interface FrameSink {
  /**
   * Whether the handshake is answered, and a frame may be too large. The answer to a handshake is short, so a stranger's
   * first bytes are not taken for a length.
   */
  readonly handshaken: boolean;
  onFrame(bytes: Buffer, start: number, end: number): void;
  /** Called with the beginning of a too large frame. The rest of its `length` bytes is skipped. */
  onLargeFrame(bytes: Buffer, start: number, end: number, length: number): void;
}

/** Cuts a stream of bytes into frames, each behind its length. A frame that lies whole in one chunk is not copied. */
export class FrameSplitter {
  readonly #sink: FrameSink;
  readonly #maxFrameBytes: number;
  /** The frame that is arriving in pieces, with its length in front. */
  #partial = NOTHING;
  #partialLength = 0;
  /** How many bytes of a too large frame are still to come. */
  #restBytes = 0;
  #stopped = false;

  constructor(sink: FrameSink, maxFrameBytes = MAX_ANSWER_BYTES) {
    this.#sink = sink;
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** Passes on every frame that `chunk` completes. @throws MalformedFrameError for an impossible length */
  push(chunk: Buffer): void {
    let position = this.#partialLength === 0 ? this.#readPast(chunk, 0) : this.#complete(chunk);
    while (!this.#stopped && position < chunk.length) {
      const left = chunk.length - position;
      const needed = left < LENGTH_BYTES ? LENGTH_BYTES : this.#needed(chunk, position);
      if (left < needed) return this.#keep(chunk, position, chunk.length, needed);
      this.#handOn(chunk, position, position + needed);
      position = this.#readPast(chunk, position + needed);
    }
  }

  /** Passes on nothing more, not even the rest of the chunk that is being pushed. */
  stop(): void {
    this.#stopped = true;
    this.#forgetPartial();
  }

  /** How many bytes of the frame at this place must have arrived before it can be passed on, its length included. */
  #needed(bytes: Buffer, at: number): number {
    const length = bytes.readInt32BE(at);
    if (length >= 0 && length <= this.#maxFrameBytes) return LENGTH_BYTES + length;
    if (length >= 0 && this.#sink.handshaken) return LENGTH_BYTES + BEGINNING_BYTES;
    throw new MalformedFrameError(`a frame of ${length} bytes${guess(bytes[at])}`);
  }

  #handOn(bytes: Buffer, at: number, end: number): void {
    const start = at + LENGTH_BYTES;
    const length = bytes.readInt32BE(at);
    this.#restBytes = length - (end - start);
    if (this.#restBytes === 0) this.#sink.onFrame(bytes, start, end);
    else this.#sink.onLargeFrame(bytes, start, end, length);
  }

  /** @returns where in the chunk the too large frame ends, or where the chunk ends */
  #readPast(chunk: Buffer, position: number): number {
    const passed = Math.min(this.#restBytes, chunk.length - position);
    this.#restBytes -= passed;
    return position + passed;
  }

  /** Adds the chunk's part of the partial frame. @returns where in the chunk the next frame begins */
  #complete(chunk: Buffer): number {
    const position = this.#fill(chunk, 0, LENGTH_BYTES);
    if (this.#partialLength < LENGTH_BYTES) return position;
    const needed = this.#needed(this.#partial, 0);
    const end = this.#fill(chunk, position, needed);
    if (this.#partialLength < needed) return end;
    const frame = this.#partial;
    this.#forgetPartial();
    this.#handOn(frame, 0, needed);
    return this.#readPast(chunk, end);
  }

  /** Fills the partial frame up to `whole` bytes, as far as the chunk goes. @returns where in the chunk that ends */
  #fill(chunk: Buffer, start: number, whole: number): number {
    const end = Math.min(start + Math.max(0, whole - this.#partialLength), chunk.length);
    if (end > start) this.#keep(chunk, start, end, whole);
    return end;
  }

  #keep(chunk: Buffer, start: number, end: number, whole: number): void {
    const needed = this.#partialLength + end - start;
    if (needed > this.#partial.length) {
      // Doubling keeps a frame in many pieces from being copied once for each piece. The frame's own length is the
      // limit.
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

/** Guesses who speaks here when a stranger's first bytes are read as a length. */
function guess(firstByte: number | undefined): string {
  const TLS_ALERT = 0x15;
  const TLS_HANDSHAKE = 0x16;
  const LETTER_H = 0x48;
  if (firstByte === TLS_ALERT || firstByte === TLS_HANDSHAKE) return ' (TLS: is this a secureClientPort?)';
  if (firstByte === LETTER_H) return ' (HTTP: is this the client port?)';
  return '';
}
