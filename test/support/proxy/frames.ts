const LENGTH_BYTES = 4;

/** No frame is that long; four letters of a four-letter word, read as a length, always are. */
const IMPOSSIBLE_LENGTH = 128 * 1024 * 1024;

/** Cuts a stream into whole frames, each with its four length bytes in front. */
export class FrameSplitter {
  private pending: Buffer = Buffer.alloc(0);
  private framed = true;

  /** False once something arrived that is no frame: a four-letter word, TLS, garbage. From then on use `takeRest`. */
  get isFramed(): boolean {
    return this.framed;
  }

  /** The frames that `chunk` completes; the beginning of the next one stays here. */
  push(chunk: Buffer): Buffer[] {
    this.pending = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk]);
    const frames: Buffer[] = [];
    while (this.framed && this.pending.length >= LENGTH_BYTES) {
      const length = this.pending.readInt32BE(0);
      const end = LENGTH_BYTES + length;
      if (length < 0 || length > IMPOSSIBLE_LENGTH) this.framed = false;
      else if (this.pending.length < end) break;
      else {
        frames.push(this.pending.subarray(0, end));
        this.pending = this.pending.subarray(end);
      }
    }
    return frames;
  }

  /** What has arrived and was not given out as a frame. */
  takeRest(): Buffer {
    const rest = this.pending;
    this.pending = Buffer.alloc(0);
    return rest;
  }
}

/** Puts the four length bytes in front of a body. */
export function frameOf(body: Buffer): Buffer {
  const frame = Buffer.alloc(LENGTH_BYTES + body.length);
  frame.writeInt32BE(body.length, 0);
  body.copy(frame, LENGTH_BYTES);
  return frame;
}

export function bodyOf(frame: Buffer): Buffer {
  return frame.subarray(LENGTH_BYTES);
}
