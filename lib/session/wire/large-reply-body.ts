import type { LinkRequest, ReplyBody } from '../core/link.js';
import { TooLargeAnswerError } from '../too-large-answer-error.js';
import type { JuteReader } from './jute-reader.js';
import { MalformedFrameError } from './malformed-frame-error.js';

/** The beginning of a reply that is too long to be kept. The reader stands behind the header. */
export class LargeReplyBody implements ReplyBody {
  readonly #reader: JuteReader;
  readonly #frameBytes: number;

  constructor(reader: JuteReader, frameBytes: number) {
    this.#reader = reader;
    this.#frameBytes = frameBytes;
  }

  /** @throws TooLargeAnswerError for a read; MalformedFrameError for bytes that cannot answer this request */
  read(request: LinkRequest): never {
    const bytes = this.#frameBytes;
    if (request.op === 'get') throw new TooLargeAnswerError(request.path, undefined, bytes);
    if (request.op !== 'list') throw new MalformedFrameError(`a frame of ${bytes} bytes in answer to a ${request.op}`);
    const children = this.#reader.int();
    // Each name takes at least four bytes, for the length in front of it.
    if (children >= 0 && children * 4 <= bytes) throw new TooLargeAnswerError(request.path, children, bytes);
    throw new MalformedFrameError(`a list of ${children} in a frame of ${bytes} bytes`);
  }
}
