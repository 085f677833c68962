import type {
  Dialer,
  DialOptions,
  HandshakeReply,
  Link,
  LinkListener,
  LinkRequest,
  Server,
} from '../../../lib/session/core/link.js';

export interface TappedRequest {
  readonly op: LinkRequest['op'] | 'handshake';
  readonly path: string | undefined;
  readonly at: number;
}

const EXPIRED: HandshakeReply = { timeoutMs: 0, sessionId: 0n, password: new Uint8Array(16) };

/**
 * Dials as another does and writes down what is sent; may once answer "expired" to a session that was taken up again,
 * or lose what comes behind the first frame that sets watches again.
 */
export class TappedDialer implements Dialer {
  willLie = false;
  willLosePartOfSetWatches = false;
  readonly sent: TappedRequest[] = [];

  constructor(
    private readonly dialer: Dialer,
    private readonly now: () => number,
  ) {}

  dial(server: Server, listener: LinkListener, options?: DialOptions): Link {
    let offered = false;
    let setWatches = 0;
    let isDeaf = false;
    const told: LinkListener = {
      onOpen: () => listener.onOpen(),
      onActivity: () => listener.onActivity(),
      onReply: (xid, errorNumber, body) => listener.onReply(xid, errorNumber, body),
      onEvent: (event) => listener.onEvent(event),
      onClosed: (cause) => listener.onClosed(cause),
      onHandshake: (reply) => {
        const lies = this.willLie && offered;
        if (lies) this.willLie = false;
        listener.onHandshake(lies ? EXPIRED : reply);
      },
    };
    const link = this.dialer.dial(server, told, options);
    return {
      handshake: (handshake) => {
        offered = handshake.sessionId !== 0n;
        this.sent.push({ op: 'handshake', path: undefined, at: this.now() });
        link.handshake(handshake);
      },
      send: (xid, request, chroot) => {
        if (request.op === 'setWatches') setWatches += 1;
        if (setWatches > 1 && this.willLosePartOfSetWatches) {
          this.willLosePartOfSetWatches = false;
          isDeaf = true;
        }
        const isTaken = isDeaf || link.send(xid, request, chroot);
        const path = 'path' in request ? request.path : undefined;
        if (isTaken) this.sent.push({ op: request.op, path, at: this.now() });
        return isTaken;
      },
      get lastZxid() {
        return link.lastZxid;
      },
      flush: () => link.flush(),
      destroy: () => link.destroy(),
    };
  }
}
