import type { LinkListener } from '../core/link.js';
import { FrameSplitter, type FrameSink } from './frame-splitter.js';
import { JuteReader, MalformedFrameError } from './jute-reader.js';
import {
  FrameReplyBody,
  LargeReplyBody,
  readHandshakeReply,
  readWatchEvent,
  type ReplyContext,
} from './replies-codec.js';

const EVENT_XID = -1;

/** Decodes the bytes of a connection and calls the listener for each frame. */
export class FrameInput implements FrameSink, ReplyContext {
  readonly #listener: LinkListener;
  readonly #splitter = new FrameSplitter(this);
  readonly #reader = new JuteReader();
  readonly #body = new FrameReplyBody(this.#reader, this);
  #handshaken = false;
  #stopped = false;
  #sessionId = 0n;
  /** Zxids are kept in two halves, because a bigint for every reply would be garbage to collect. */
  #lastHigh = 0;
  #lastLow = 0;
  #replyHigh = 0;
  #replyLow = 0;

  constructor(listener: LinkListener) {
    this.#listener = listener;
  }

  get handshaken(): boolean {
    return this.#handshaken;
  }

  get lastZxid(): bigint {
    return joined(this.#lastHigh, this.#lastLow);
  }

  get replyZxid(): bigint {
    return joined(this.#replyHigh, this.#replyLow);
  }

  get sessionId(): bigint {
    return this.#sessionId;
  }

  /** @throws MalformedFrameError, and whatever the listener throws */
  push(chunk: Buffer): void {
    this.#listener.onActivity();
    // The listener may have destroyed the link from within that call.
    if (this.#stopped) return;
    try {
      this.#splitter.push(chunk);
    } finally {
      this.#reader.clear();
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#splitter.stop();
  }

  onFrame(bytes: Buffer, start: number, end: number): void {
    this.#reader.reset(bytes, start, end);
    if (this.#handshaken) return this.#onReply();
    const reply = readHandshakeReply(this.#reader);
    this.#handshaken = true;
    this.#sessionId = reply.sessionId;
    this.#listener.onHandshake(reply);
  }

  onLargeFrame(bytes: Buffer, start: number, end: number, length: number): void {
    this.#reader.reset(bytes, start, end);
    const xid = this.#readXid();
    const errorNumber = this.#reader.int();
    // An event, or the answer to a ping, to credentials or to watches, is never this long.
    if (xid < 0) throw new MalformedFrameError(`a frame of ${length} bytes`);
    this.#keepNewest(this.#replyHigh, this.#replyLow);
    this.#listener.onReply(xid, errorNumber, new LargeReplyBody(this.#reader, length));
  }

  #onReply(): void {
    const reader = this.#reader;
    const xid = this.#readXid();
    const errorNumber = this.#reader.int();
    if (xid !== EVENT_XID) {
      this.#keepNewest(this.#replyHigh, this.#replyLow);
      return this.#listener.onReply(xid, errorNumber, this.#body);
    }
    // The zxid of an event is not kept. One transaction may cause several events, and when the link breaks between two
    // of them, the server must send the second again. (ZooKeeper 3.8 sends -1 here, later versions send the
    // transaction.)
    const event = readWatchEvent(reader);
    if (event !== undefined) this.#listener.onEvent(event);
  }

  #readXid(): number {
    // The header of a reply has the transaction behind the number of the request.
    const xid = this.#reader.int();
    this.#replyHigh = this.#reader.int();
    this.#replyLow = this.#reader.int() >>> 0;
    return xid;
  }

  #keepNewest(high: number, low: number): void {
    // A server that has no transaction to name sends -1 or 0, which must not lower the newest.
    if (high < this.#lastHigh || (high === this.#lastHigh && low <= this.#lastLow)) return;
    this.#lastHigh = high;
    this.#lastLow = low;
  }
}

function joined(high: number, low: number): bigint {
  return (BigInt(high) << 32n) | BigInt(low);
}
