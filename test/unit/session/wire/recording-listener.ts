import type { HandshakeReply, LinkListener, LinkRequest, ReplyBody } from '../../../../lib/session/core/link.js';
import type { Reply, WatchEvent } from '../../../../lib/session/requests.js';

export interface ToldReply {
  xid: number;
  errorNumber: number;
  /** What the body said to the request; absent when there was none, or an error. */
  reply?: Reply;
  thrown?: unknown;
}

/** Keeps what it is told, and reads each reply as the answer to the oldest of `requests`. */
export class RecordingListener implements LinkListener {
  opened = 0;
  activity = 0;
  readonly requests: LinkRequest[] = [];
  readonly handshakes: HandshakeReply[] = [];
  readonly replies: ToldReply[] = [];
  readonly events: WatchEvent[] = [];
  readonly causes: Error[] = [];

  onOpen(): void {
    this.opened += 1;
  }

  onHandshake(reply: HandshakeReply): void {
    this.handshakes.push(reply);
  }

  onActivity(): void {
    this.activity += 1;
  }

  onReply(xid: number, errorNumber: number, body: ReplyBody): void {
    const request = this.requests.shift();
    const told: ToldReply = { xid, errorNumber };
    if (request !== undefined && errorNumber === 0) {
      try {
        told.reply = body.read(request);
      } catch (error) {
        told.thrown = error;
      }
    }
    this.replies.push(told);
  }

  onEvent(event: WatchEvent): void {
    this.events.push(event);
  }

  onClosed(cause: Error): void {
    this.causes.push(cause);
  }
}
