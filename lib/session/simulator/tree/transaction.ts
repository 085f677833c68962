import type { Acl, MultiResult } from '../../requests.js';

/** One step of a transaction with everything decided: every server that carries it out reaches the same state. */
export type Change =
  | {
      readonly op: 'create';
      readonly path: string;
      readonly data: Uint8Array;
      readonly acl: readonly Acl[];
      readonly ephemeralOwner: bigint;
    }
  | { readonly op: 'delete'; readonly path: string }
  | { readonly op: 'set'; readonly path: string; readonly data: Uint8Array }
  | { readonly op: 'check'; readonly path: string }
  | { readonly op: 'createSession'; readonly sessionId: bigint; readonly timeoutMs: number }
  | { readonly op: 'closeSession'; readonly sessionId: bigint };

/** The server that sent a write, and the number of its request. */
export interface Origin {
  readonly serverId: number;
  readonly requestId: number;
}

/** A position in the history of the ensemble. A refused write takes one, too. */
export interface Transaction {
  readonly zxid: bigint;
  readonly wallMs: number;
  readonly origin: Origin | undefined;
  readonly changes: readonly Change[];
  /** 0, or the reason why the write was refused. */
  readonly errorNumber: number;
  /** The errors of a refused multi's parts, in order. */
  readonly partErrors: readonly number[] | undefined;
}

/** What a change adds to the reply. */
export type ChangeResult = MultiResult | undefined;
