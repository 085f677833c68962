import { MAX_ANSWER_BYTES } from '../too-large-answer-error.js';
import { MalformedFrameError } from './malformed-frame-error.js';

const LENGTH_BYTES = 4;
/** What is kept of a frame that is too large: the header of a reply, and how many children a list has. */
const BEGINNING_BYTES = 20;
/** What is set aside at first for a frame that comes in pieces: a length alone must not cost memory. */
const FIRST_BYTES = 64 * 1024;
const NOTHING = Buffer.alloc(0);

/** Takes whole frames: `bytes[start]` up to, not including, `bytes[end]`, which stay as they are for good. */
export interface FrameSink {
  /** Whether a frame may be too large by now; one that is comes from no ZooKeeper otherwise. */
  readonly takesLargeFrames: boolean;
  onFrame(bytes: Buffer, start: number, end: number): void;
  /** Told of a frame that is too large by its beginning; the rest of its `length` bytes is read past. */
  onLargeFrame(bytes: Buffer, start: number, end: number, length: number): void;
}

/** Cuts a stream of bytes into frames, each behind its length. A frame that lies whole in a chunk is not copied. */
export class FrameSplitter {
  readonly #sink: FrameSink;
  readonly #maxFrameBytes: number;
  /** The frame that is coming in pieces, from its length on. */
  #partial = NOTHING;
  #partialLength = 0;
  /** How much of a frame that is too large is still to come. */
  #restBytes = 0;
  #stopped = false;

  constructor(sink: FrameSink, maxFrameBytes = MAX_ANSWER_BYTES) {
    this.#sink = sink;
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** Hands on every frame that `chunk` completes. @throws MalformedFrameError for an impossible length */
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

  /** Hands on nothing any more, not even what is left of the chunk being pushed. */
  stop(): void {
    this.#stopped = true;
    this.#forgetPartial();
  }

  /** How much of the frame that begins there must have come before it can be handed on, with its length. */
  #needed(bytes: Buffer, at: number): number {
    const length = bytes.readInt32BE(at);
    if (length >= 0 && length <= this.#maxFrameBytes) return LENGTH_BYTES + length;
    if (length >= 0 && this.#sink.takesLargeFrames) return LENGTH_BYTES + BEGINNING_BYTES;
    throw new MalformedFrameError(`a frame of ${length} bytes${guess(bytes[at])}`);
  }

  #handOn(bytes: Buffer, at: number, end: number): void {
    const start = at + LENGTH_BYTES;
    const length = bytes.readInt32BE(at);
    this.#restBytes = length - (end - start);
    if (this.#restBytes === 0) this.#sink.onFrame(bytes, start, end);
    else this.#sink.onLargeFrame(bytes, start, end, length);
  }

  /** @returns where in the chunk the frame that is too large ends, or the chunk does */
  #readPast(chunk: Buffer, position: number): number {
    const passed = Math.min(this.#restBytes, chunk.length - position);
    this.#restBytes -= passed;
    return position + passed;
  }

  /** Adds to the partial frame what the chunk has of it. @returns where in the chunk the next one begins */
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

/** What a stranger's first bytes, read as a length, are most often. */
function guess(firstByte: number | undefined): string {
  const TLS_ALERT = 0x15;
  const TLS_HANDSHAKE = 0x16;
  const LETTER_H = 0x48;
  if (firstByte === TLS_ALERT || firstByte === TLS_HANDSHAKE) return ' (TLS: is this a secureClientPort?)';
  if (firstByte === LETTER_H) return ' (HTTP: is this the client port?)';
  return '';
}
