import type { LinkRequest, ReplyBody } from '../core/link.js';
import { serverError, type SessionError } from '../errors.js';
import { isNumberedAfter } from '../numbered-names.js';
import type { ListRequest, MultiPart, MultiResult, Reply } from '../requests.js';
import type { JuteReader } from './jute-reader.js';
import { MalformedFrameError } from './malformed-frame-error.js';
import { Opcode } from './opcodes.js';
import { readStat, statOfNewNode } from './records.js';

const ROLLED_BACK = -2;

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
      case 'delete':
      case 'sync':
      case 'auth':
      case 'setWatches':
      case 'removeWatches':
      case 'ping':
      case 'closeSession':
        return undefined;
    }
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
      if (type === Opcode.error) {
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
    if (part.op === 'create' && type === Opcode.create2) {
      return { op: 'create', path: reader.string(), stat: readStat(reader) };
    }
    if (part.op === 'create' && type === Opcode.create) {
      const { replyZxid, sessionId } = this.#context;
      return { op: 'create', path: reader.string(), stat: statOfNewNode(part, replyZxid, sessionId) };
    }
    if (part.op === 'set' && type === Opcode.setData) return { op: 'set', stat: readStat(reader) };
    if (part.op === 'delete' && type === Opcode.delete) return { op: 'delete' };
    if (part.op === 'check' && type === Opcode.check) return { op: 'check' };
    throw new MalformedFrameError(`a result of type ${type} for the ${part.op} in a multi`);
  }
}
