import type { Acl, MultiResult } from '../../requests.js';

/** One step of a transaction, with everything decided: every server that carries it out ends up in the same state. */
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

/** Which server asked, and which of its requests it is. */
export interface Origin {
  readonly serverId: number;
  readonly requestId: number;
}

/** A committed position in the history of the ensemble; a refused write takes one too. */
export interface Transaction {
  readonly zxid: bigint;
  readonly wallMs: number;
  readonly origin: Origin | undefined;
  readonly changes: readonly Change[];
  /** 0, or why the write was refused. */
  readonly errorNumber: number;
  /** Of a refused multi: one for each part. */
  readonly partErrors: readonly number[] | undefined;
}

/** What each change gives to the reply. */
export type ChangeResult = MultiResult | undefined;
