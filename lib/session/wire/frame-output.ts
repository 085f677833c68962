import { setImmediate } from 'node:timers';
import { outsideCalls } from '../../lock/outside-calls.js';
import type { Handshake, LinkRequest } from '../core/link.js';
import type { Acl } from '../requests.js';
import { JuteWriter } from './jute-writer.js';
import { writeHandshake } from './records.js';
import { dataBytes, RequestEncoder } from './requests-codec.js';

/** A server cuts the connection at its `jute.maxbuffer` (0xfffff); some room for what it adds when it passes it on. */
const MAX_FRAME_BYTES = 0xfffff - 1024;

const NOTHING = Buffer.alloc(0);

/** A socket, as far as output goes. */
export interface ByteSink {
  /** The callback comes when the sink needs these bytes, and all before them, no more; also when it is destroyed. */
  write(bytes: Buffer, callback?: () => void): unknown;
  /** How much of what was written the sink still needs. */
  readonly writableLength: number;
  readonly destroyed: boolean;
}

/** Collects the frames of one turn of the event loop and lets them leave in one write. */
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

  /** @returns false when the frame would be larger than servers accept */
  send(xid: number, request: LinkRequest, chroot: string): boolean {
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

  /** Hands over to the socket what has been collected. */
  flush(): void {
    if (this.#writer.length === 0 || this.#socket.destroyed) return;
    // What comes of it, an error above all, is no part of the call that happens to be the first of the turn.
    outsideCalls(() => this.#socket.write(this.#writer.written()));
    // Mostly the kernel has taken everything by now; otherwise the socket keeps the memory until it has.
    if (this.#socket.writableLength === 0) this.#writer.reuse();
    else this.#writer.release();
  }

  /**
   * Hands over what has been collected, and further to the kernel. A socket with TLS has written at once, too, but takes the
   * next bytes only after a turn of the event loop.
   * @returns what resolves when the kernel has all of it, or never will; undefined when it has
   */
  leave(): Promise<void> | undefined {
    this.flush();
    if (this.#socket.destroyed || this.#socket.writableLength === 0) return undefined;
    return outsideCalls(() => new Promise((resolve) => this.#socket.write(NOTHING, () => resolve())));
  }

  #finishFrame(): void {
    this.#writer.endFrame();
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#flushScheduled);
  }
}
