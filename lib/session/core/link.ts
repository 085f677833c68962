import type { CreateMode, MultiPart, Reply, Request, WatchEvent } from '../requests.js';

/** A server of the connect string. */
export interface Server {
  readonly host: string;
  readonly port: number;
}

export type WatchKind = 'data' | 'exists' | 'children';
/** The kinds of watch that a `removeWatches` can take away from a path. */
export type RemovableWatch = 'children' | 'data';

/** Requests that only the client itself sends. Its users send `Request`. */
export type ControlRequest =
  | { readonly op: 'auth'; readonly scheme: string; readonly credential: Uint8Array }
  | {
      readonly op: 'setWatches';
      /** The server tells at once of changes after this transaction. */
      readonly relativeZxid: bigint;
      readonly data: readonly string[];
      readonly exists: readonly string[];
      readonly children: readonly string[];
    }
  | { readonly op: 'removeWatches'; readonly path: string; readonly kind: RemovableWatch }
  | { readonly op: 'ping' }
  | { readonly op: 'closeSession' };

export type LinkRequest = Request | ControlRequest;

/** Replies to these do not queue behind those of ordinary requests, so each kind has a fixed number. */
export const PING_XID = -2;
export const AUTH_XID = -4;
export const SET_WATCHES_XID = -8;
/** Tokens go one by one and before any request, so all of them have the number that requests leave out. */
export const TOKEN_XID = 0;

/** The first frame of a connection. It offers an old session, or asks for a new one (`sessionId` 0n). */
export interface Handshake {
  readonly lastZxid: bigint;
  readonly timeoutMs: number;
  readonly sessionId: bigint;
  readonly password: Uint8Array;
}
export interface HandshakeReply {
  /** The time-out that the server grants. 0 or less says that the offered session has expired. */
  readonly timeoutMs: number;
  readonly sessionId: bigint;
  readonly password: Uint8Array;
}

/**
 * The part of a reply behind its header. It is read once the matching request is known, and throws when it is
 * malformed.
 */
export interface ReplyBody {
  read(request: LinkRequest): Reply;
  /** Reads the answer to a token of an authentication; empty where the server has no token to send. */
  readToken?(): Uint8Array;
}

/** What a link that is not open yet is doing. */
export type LinkStage = 'preparing' | 'resolving' | 'connecting' | 'securing' | 'asking';

/**
 * One connection to one server as the session's state machine sees it, over a socket (`wire`) or in memory
 * (`simulator`). Frames sent in one turn of the event loop leave together.
 */
export interface Link {
  /** The stage of a link that is not open yet, for people. Links in memory have none. */
  readonly stage?: LinkStage | undefined;
  /** The address that an open link over a socket has reached. */
  readonly address?: string | undefined;
  handshake(handshake: Handshake): void;
  /** Sends one token of an authentication. Links in memory have nobody who would ask for it. */
  sendToken?(token: Uint8Array): void;
  /**
   * Queues one request, with `chroot` in front of every path in it.
   * @returns false when the frame is larger than servers accept; nothing was sent then
   */
  send(xid: number, request: LinkRequest, chroot: string): boolean;
  /**
   * Sends what was queued in this turn now, because the process may end right after it.
   * @returns a promise that resolves when the bytes have left or never will; undefined when they have left already
   */
  flush(): Promise<void> | undefined;
  /** The newest transaction that a reply or event of this link has shown; 0n before the first. */
  readonly lastZxid: bigint;
  /** Frees the connection, after the queued bytes have left if that is possible. The listener hears nothing more. */
  destroy(): void;
}

/** Hears what comes over a link, never before `dial` has returned. After `onClosed` nothing more comes. */
export interface LinkListener {
  /** The server was asked whether it serves, and said yes. The link to it is opened now. */
  onServing?(): void;
  /** The connection is open: the handshake can be sent. */
  onOpen(): void;
  onHandshake(reply: HandshakeReply): void;
  /** Bytes arrived, whatever they mean. This call comes before those for the frames in the bytes. */
  onActivity(): void;
  /** @param errorNumber 0, or the server's error number. @param body is valid during the call only */
  onReply(xid: number, errorNumber: number, body: ReplyBody): void;
  /** `event.path` is the server's path, with the chroot. */
  onEvent(event: WatchEvent): void;
  /** The link was refused, reset, ended, malformed or not resolved. The cause says which. */
  onClosed(cause: Error): void;
}

/** The server was asked whether it serves, and hung up without a word. */
export class UnansweredQuestion extends Error {}

/** Makes links. Name look-up, connection and encryption are its business; deadlines are the caller's. */
export interface Dialer {
  dial(server: Server, listener: LinkListener, options?: DialOptions): Link;
}

export interface DialOptions {
  /**
   * Whether the link opens only after the server has said that it serves, or that it may not say. Otherwise `onClosed`
   * is called.
   */
  readonly asksFirst?: boolean;
}

/** The flags of a create on the wire. */
export const CREATE_FLAGS: Readonly<Record<CreateMode, number>> = {
  persistent: 0,
  ephemeral: 1,
  'persistent-sequential': 2,
  'ephemeral-sequential': 3,
  container: 4,
};

/**
 * What a successful answer proves: that a quorum committed the request, that the request passed the leader, or nothing,
 * because the server answers such a request by itself.
 */
export type Proof = 'committed' | 'passed' | 'nothing';

export function proofBy(request: LinkRequest): Proof {
  switch (request.op) {
    case 'create':
    case 'delete':
    case 'set':
      return 'committed';
    case 'multi':
      return request.parts.some((part: MultiPart) => part.op !== 'check') ? 'committed' : 'nothing';
    case 'sync':
      return 'passed';
    default:
      // A server answers everything else by itself.
      return 'nothing';
  }
}
