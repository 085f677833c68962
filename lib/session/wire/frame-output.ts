import { setImmediate } from 'node:timers';
import { outsideCalls } from '../../lock/outside-calls.js';
import type { Handshake, LinkRequest } from '../core/link.js';
import type { Acl } from '../requests.js';
import { JuteWriter } from './jute-writer.js';
import { dataBytes, RequestEncoder, writeHandshake, writeToken } from './requests-codec.js';

/**
 * A server cuts the connection at its `jute.maxbuffer` (0xfffff). The rest is room for what it adds when it passes a
 * frame on.
 */
const MAX_FRAME_BYTES = 0xfffff - 1024;

const NOTHING = Buffer.alloc(0);

/** The part of a socket that output needs. */
export interface ByteSink {
  /**
   * The callback comes when the sink no longer needs these bytes and those before them, also when the sink is
   * destroyed.
   */
  write(bytes: Buffer, callback?: () => void): unknown;
  /** How many of the written bytes the sink still needs. */
  readonly writableLength: number;
  readonly destroyed: boolean;
}

/** Collects the frames of one turn of the event loop, so that they leave in one write. */
export class FrameOutput {
  readonly #socket: ByteSink;
  readonly #writer = new JuteWriter();
  readonly #encoder: RequestEncoder;
  #scheduled = false;
  readonly #flushScheduled = () => {
    this.#scheduled = false;
    this.flush();
  };

  constructor(socket: ByteSink, defaultAcl: readonly Acl[]) {
    this.#socket = socket;
    this.#encoder = new RequestEncoder(this.#writer, defaultAcl);
  }

  handshake(handshake: Handshake): void {
    this.#writer.beginFrame();
    writeHandshake(this.#writer, handshake);
    this.#finishFrame();
  }

  token(token: Uint8Array): void {
    this.#writer.beginFrame();
    writeToken(this.#writer, token);
    this.#finishFrame();
  }

  /** @returns false when the frame would be larger than servers accept */
  send(xid: number, request: LinkRequest, chroot: string): boolean {
    // Data that is too large alone is refused before it is copied into a frame.
    if (dataBytes(request) > MAX_FRAME_BYTES) return false;
    const writer = this.#writer;
    writer.beginFrame();
    try {
      this.#encoder.encode(xid, request, chroot);
    } catch (error) {
      writer.dropFrame();
      throw error;
    }
    if (writer.frameLength > MAX_FRAME_BYTES) {
      writer.dropFrame();
      return false;
    }
    this.#finishFrame();
    return true;
  }

  /** Hands the collected frames to the socket. */
  flush(): void {
    if (this.#writer.length === 0 || this.#socket.destroyed) return;
    // The write must not run in the async context of the call that happened to come first in this turn, nor its errors.
    outsideCalls(() => this.#socket.write(this.#writer.written()));
    // Mostly the kernel has taken everything by now. Otherwise the socket keeps this memory until it has.
    if (this.#socket.writableLength === 0) this.#writer.reuse();
    else this.#writer.release();
  }

  /**
   * Hands the collected frames to the socket, and on to the kernel.
   * @returns a promise that resolves when the kernel has all bytes or never will; undefined when it has them already
   */
  leave(): Promise<void> | undefined {
    this.flush();
    if (this.#socket.destroyed || this.#socket.writableLength === 0) return undefined;
    // A socket with TLS encrypts at once, but takes the next bytes only after a turn of the event loop; an empty write
    // behind them tells when they have left.
    return outsideCalls(() => new Promise((resolve) => this.#socket.write(NOTHING, () => resolve())));
  }

  #finishFrame(): void {
    this.#writer.endFrame();
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#flushScheduled);
  }
}
