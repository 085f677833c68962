import type { HandshakeReply, LinkRequest, ReplyBody } from '../core/link.js';
import { statOfNewNode } from '../core/stat-of-new-node.js';
import { serverError, type SessionError, TooLargeAnswerError } from '../errors.js';
import { isNumberedAfter } from '../numbered-names.js';
import type { ListRequest, MultiPart, MultiResult, Reply, Stat, WatchEvent } from '../requests.js';
import { type JuteReader, MalformedFrameError } from './jute-reader.js';
import { OPCODES } from './requests-codec.js';

const ROLLED_BACK = -2;
const EVENT_TYPES: ReadonlyMap<number, WatchEvent['type']> = new Map([
  [1, 'created'],
  [2, 'deleted'],
  [3, 'changed'],
  [4, 'children'],
]);

/** Reads the reply without its last byte, the read-only flag, which old servers leave out and nobody here needs. */
export function readHandshakeReply(reader: JuteReader): HandshakeReply {
  reader.int();
  const timeoutMs = reader.int();
  const sessionId = reader.long();
  return { timeoutMs, sessionId, password: reader.buffer() };
}

/** Undefined for an event about no node: a change of the server's state, or a removed watch. */
export function readWatchEvent(reader: JuteReader): WatchEvent | undefined {
  const type = EVENT_TYPES.get(reader.int());
  // The state of the connection is skipped: the connection's own end tells it better.
  reader.int();
  const path = reader.string();
  return type === undefined ? undefined : { type, path };
}

/** The facts that a reply's body does not state itself. */
export interface ReplyContext {
  /** The transaction of the reply that is being read. For a write it is the write's own. */
  readonly replyZxid: bigint;
  readonly sessionId: bigint;
}

/** The body of the reply that the reader stands at. One object serves all replies of a connection. */
export class FrameReplyBody implements ReplyBody {
  readonly #reader: JuteReader;
  readonly #context: ReplyContext;

  constructor(reader: JuteReader, context: ReplyContext) {
    this.#reader = reader;
    this.#context = context;
  }

  /**
   * @throws SessionError for a multi that failed; MalformedFrameError for bytes that cannot be a reply to this request
   */
  read(request: LinkRequest): Reply {
    const reader = this.#reader;
    switch (request.op) {
      case 'create':
        return { path: reader.string(), stat: readStat(reader) };
      case 'set':
      case 'exists':
        return readStat(reader);
      case 'get':
        return { data: reader.buffer(), stat: readStat(reader) };
      case 'list':
        return { children: this.#children(request), stat: readStat(reader) };
      case 'multi':
        return this.#multi(request.parts);
      default:
        // The header of the reply says all.
        return undefined;
    }
  }

  readToken(): Uint8Array {
    return this.#reader.buffer();
  }

  #children({ numberedAfter }: ListRequest): string[] {
    if (numberedAfter === undefined) return this.#reader.strings();
    return this.#reader.strings((bytes, start, end) => isNumberedAfter(numberedAfter, bytes, start, end));
  }

  #multi(parts: readonly MultiPart[]): MultiResult[] {
    const reader = this.#reader;
    const results: MultiResult[] = [];
    let failure: SessionError | undefined;
    let failed = false;
    for (const part of parts) {
      const type = reader.int();
      if (reader.boolean()) throw new MalformedFrameError(`a multi of ${parts.length} parts has fewer results`);
      // The error in the header is skipped: the body of a failed part has it once more.
      reader.int();
      if (type === OPCODES.error) {
        const error = reader.int();
        failed = true;
        // The other parts of a failed multi answer 0 or "rolled back". Only the part that caused the failure names a
        // reason.
        if (error !== 0 && error !== ROLLED_BACK) failure ??= serverError(error, part.op, part.path);
      } else {
        results.push(this.#part(type, part));
      }
    }
    reader.int();
    if (!reader.boolean()) throw new MalformedFrameError(`a multi of ${parts.length} parts has more results`);
    if (failed) throw failure ?? serverError(ROLLED_BACK, 'multi', parts[0]?.path);
    return results;
  }

  #part(type: number, part: MultiPart): MultiResult {
    const reader = this.#reader;
    if (part.op === 'create' && type === OPCODES.create) {
      return { op: 'create', path: reader.string(), stat: readStat(reader) };
    }
    // A server turns the `create2` of a multi into a plain `create`, whose result is only the path.
    if (part.op === 'create' && type === OPCODES.createWithoutStat) {
      const { replyZxid, sessionId } = this.#context;
      return { op: 'create', path: reader.string(), stat: statOfNewNode(part, replyZxid, sessionId) };
    }
    if (part.op === 'set' && type === OPCODES.set) return { op: 'set', stat: readStat(reader) };
    if (part.op === 'delete' && type === OPCODES.delete) return { op: 'delete' };
    if (part.op === 'check' && type === OPCODES.check) return { op: 'check' };
    throw new MalformedFrameError(`a result of type ${type} for the ${part.op} in a multi`);
  }
}

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

/** Reads the fields in the order of the wire: JavaScript evaluates an object literal in source order. */
function readStat(reader: JuteReader): Stat {
  return {
    czxid: reader.long(),
    mzxid: reader.long(),
    ctime: reader.longAsNumber(),
    mtime: reader.longAsNumber(),
    version: reader.int(),
    cversion: reader.int(),
    aversion: reader.int(),
    ephemeralOwner: reader.long(),
    dataLength: reader.int(),
    numChildren: reader.int(),
    pzxid: reader.long(),
  };
}
