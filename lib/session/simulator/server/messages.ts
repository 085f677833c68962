import type { Handshake, HandshakeReply, LinkRequest } from '../../core/link.js';
import type { MultiPart, Reply, WatchEvent } from '../../requests.js';
import type { Identity } from '../tree/acl.js';
import type { Origin, Transaction } from '../tree/transaction.js';
import type { Tree } from '../tree/tree.js';

/** Messages from a client's machine to a server's. Paths carry the chroot. */
export type ToServer =
  | { readonly kind: 'connect' }
  /** Asks whether the server serves. The server hangs up after its answer. */
  | { readonly kind: 'ask' }
  | { readonly kind: 'handshake'; readonly handshake: Handshake }
  | { readonly kind: 'request'; readonly xid: number; readonly request: LinkRequest }
  | { readonly kind: 'closed' };

export interface ReplyMessage {
  readonly kind: 'reply';
  readonly xid: number;
  readonly op: LinkRequest['op'];
  readonly zxid: bigint;
  readonly errorNumber: number;
  readonly reply: Reply;
  /** The errors of a refused multi's parts. The multi's own error number is 0. */
  readonly partErrors?: readonly number[] | undefined;
}

export type ToClient =
  | { readonly kind: 'connected' }
  | { readonly kind: 'service'; readonly serves: boolean }
  | { readonly kind: 'handshake'; readonly reply: HandshakeReply }
  | ReplyMessage
  | { readonly kind: 'event'; readonly event: WatchEvent }
  | { readonly kind: 'closed'; readonly cause: string };

/** The message as a line of a trace has it. */
export function messageText(message: ToServer | ToClient): string {
  return JSON.stringify(message, (key, value: unknown) => {
    // A watcher is an object of the client, which the server never sees: it only hears that there is one.
    if (key === 'watch') return value === undefined ? undefined : true;
    return typeof value === 'bigint' ? `${value}n` : value;
  });
}

/** A request that becomes a transaction. */
export type Write =
  | { readonly op: 'single'; readonly part: MultiPart }
  | { readonly op: 'multi'; readonly parts: readonly MultiPart[] }
  | { readonly op: 'createSession'; readonly timeoutMs: number }
  | { readonly op: 'closeSession' }
  | { readonly op: 'reap'; readonly path: string };

export interface WriteRequest {
  readonly origin: Origin | undefined;
  readonly sessionId: bigint;
  readonly identities: readonly Identity[];
  readonly write: Write;
}

export type ToLeader =
  | { readonly kind: 'write'; readonly request: WriteRequest }
  | { readonly kind: 'sync'; readonly requestId: number }
  | { readonly kind: 'revalidate'; readonly requestId: number; readonly sessionId: bigint; readonly timeoutMs: number }
  | { readonly kind: 'ack'; readonly zxid: bigint }
  | { readonly kind: 'following' }
  /** The answer to the leader's ping: the only way in which the leader learns that sessions of a follower are alive. */
  | { readonly kind: 'touched'; readonly sessions: ReadonlyMap<bigint, number> }
  | { readonly kind: 'closed' };

export type ToFollower =
  | {
      readonly kind: 'newLeader';
      readonly epoch: number;
      readonly tree: Tree;
      readonly proposals: readonly Transaction[];
    }
  | { readonly kind: 'upToDate' }
  | { readonly kind: 'proposal'; readonly transaction: Transaction }
  | { readonly kind: 'commit'; readonly zxid: bigint }
  | { readonly kind: 'ping' }
  | { readonly kind: 'synced'; readonly requestId: number }
  | { readonly kind: 'revalidated'; readonly requestId: number; readonly valid: boolean }
  | { readonly kind: 'closed' };
