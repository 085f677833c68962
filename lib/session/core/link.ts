import type { CreateMode, MultiPart, Reply, Request, WatchEvent } from '../requests.js';

/** A server of the connect string. */
export interface Server {
  readonly host: string;
  readonly port: number;
}

export type WatchKind = 'data' | 'exists' | 'children';
/** Which of a path's watches of this connection a `removeWatches` takes away. */
export type RemovableWatch = 'children' | 'data';

/** What only the client itself sends; requests of its users are `Request`. */
export type ControlRequest =
  | { readonly op: 'auth'; readonly scheme: string; readonly credential: Uint8Array }
  | {
      readonly op: 'setWatches';
      /** Changes after this transaction are told at once. */
      readonly relativeZxid: bigint;
      readonly data: readonly string[];
      readonly exists: readonly string[];
      readonly children: readonly string[];
    }
  | { readonly op: 'removeWatches'; readonly path: string; readonly kind: RemovableWatch }
  | { readonly op: 'ping' }
  | { readonly op: 'closeSession' };

export type LinkRequest = Request | ControlRequest;

/** Replies to these do not queue behind those of ordinary requests, so each kind has a number of its own. */
export const PING_XID = -2;
export const AUTH_XID = -4;
export const SET_WATCHES_XID = -8;

/** The first frame of a connection: offers an old session, or asks for a new one (`sessionId` 0n). */
export interface Handshake {
  readonly lastZxid: bigint;
  readonly timeoutMs: number;
  readonly sessionId: bigint;
  readonly password: Uint8Array;
}
export interface HandshakeReply {
  /** What the server grants; 0 or less: the offered session has expired. */
  readonly timeoutMs: number;
  readonly sessionId: bigint;
  readonly password: Uint8Array;
}

/** The part of a reply behind its header, read once it is known what was asked. Throws when it is malformed. */
export interface ReplyBody {
  read(request: LinkRequest): Reply;
}

/** What a link that is not open yet is busy with. */
export type LinkStage = 'resolving' | 'connecting' | 'securing' | 'asking';

/**
 * One connection to one server, as the session's state machine sees it: over a socket (`wire`) or in memory
 * (`simulator`). Frames sent in one turn of the event loop leave together.
 */
export interface Link {
  /** For people, until the link is open; links in memory have no stages. */
  readonly stage?: LinkStage | undefined;
  handshake(handshake: Handshake): void;
  /**
   * Queues one request; every path in it gets `chroot` in front.
   * @returns false, and sends nothing, when the frame is larger than servers accept
   */
  send(xid: number, request: LinkRequest, chroot: string): boolean;
  /**
   * Lets what was sent in this turn leave now: the process may end right behind it.
   * @returns what resolves when it has left, or never will; undefined when it has
   */
  flush(): Promise<void> | undefined;
  /** The newest transaction any reply or event of this link has shown; 0n before the first. */
  readonly lastZxid: bigint;
  /** Says no more to the listener from now on, and frees the connection (after what was queued has left, if it can). */
  destroy(): void;
}

/** Told by a link, never before `dial` has returned. After `onClosed` nothing more comes. */
export interface LinkListener {
  /** The server has said, when asked first, that it serves: now the way to it begins. */
  onServing?(): void;
  /** The connection stands: time for the handshake. */
  onOpen(): void;
  onHandshake(reply: HandshakeReply): void;
  /** Any bytes came, whatever they mean. Precedes the calls for the frames in them. */
  onActivity(): void;
  /** @param errorNumber 0, or the server's error number. `body` is valid during the call only. */
  onReply(xid: number, errorNumber: number, body: ReplyBody): void;
  /** `event.path` is the server's: with the chroot. */
  onEvent(event: WatchEvent): void;
  /** Refused, reset, ended, malformed, unresolvable: the cause says. */
  onClosed(cause: Error): void;
}

/** A server that was asked first hung up without a word. */
export class UnansweredQuestion extends Error {}

/** Makes links: name look-up, connection and encryption are its business; deadlines are the caller's. */
export interface Dialer {
  dial(server: Server, listener: LinkListener, options?: DialOptions): Link;
}

export interface DialOptions {
  /** Opens only once the server has said that it serves, or that it may not say; `onClosed` tells of any other. */
  readonly asksFirst?: boolean;
}

/** The flags of a create, as they go over the wire. */
export const CREATE_FLAGS: Readonly<Record<CreateMode, number>> = {
  persistent: 0,
  ephemeral: 1,
  'persistent-sequential': 2,
  'ephemeral-sequential': 3,
  container: 4,
};

/**
 * What a success of this request proves: that a quorum committed it, that it passed the leader, or nothing, as the server
 * answers it by itself.
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
    case 'exists':
    case 'get':
    case 'list':
    case 'auth':
    case 'setWatches':
    case 'removeWatches':
    case 'ping':
    case 'closeSession':
      return 'nothing';
  }
}
