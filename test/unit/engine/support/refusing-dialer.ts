import type { Dialer, Link, LinkListener, LinkRequest, ReplyBody, Server } from '../../../../lib/session/core/link.js';

/** The number that servers use on the wire. */
export const THROTTLED = -127;

/** A way to servers that answer some requests with an error, in their turn, and do nothing. */
export class RefusingDialer implements Dialer {
  readonly #dialer: Dialer;
  readonly #errorNumber: number;
  /** What is refused, by operation. */
  readonly refused = new Set<LinkRequest['op']>();
  /** Whether it is refused, where the operation does not decide that. */
  refuses = ({ op }: LinkRequest): boolean => this.refused.has(op);
  /** How many were. */
  count = 0;

  constructor(dialer: Dialer, errorNumber: number) {
    this.#dialer = dialer;
    this.#errorNumber = errorNumber;
  }

  dial(server: Server, listener: LinkListener): Link {
    const xids = new Set<number>();
    const error = this.#errorNumber;
    const link = this.#dialer.dial(server, {
      onOpen: () => listener.onOpen(),
      onHandshake: (reply) => listener.onHandshake(reply),
      onActivity: () => listener.onActivity(),
      onEvent: (event) => listener.onEvent(event),
      onClosed: (cause) => listener.onClosed(cause),
      onReply: (xid: number, errorNumber: number, body: ReplyBody) =>
        listener.onReply(xid, xids.delete(xid) ? error : errorNumber, body),
    });
    return {
      get lastZxid() {
        return link.lastZxid;
      },
      handshake: (handshake) => link.handshake(handshake),
      flush: () => link.flush(),
      destroy: () => link.destroy(),
      send: (xid, request, chroot) => {
        if (!this.refuses(request)) return link.send(xid, request, chroot);
        this.count += 1;
        xids.add(xid);
        // Something that changes nothing, so that the answer comes in its turn.
        return link.send(xid, { op: 'exists', path: '/' }, chroot);
      },
    };
  }
}
