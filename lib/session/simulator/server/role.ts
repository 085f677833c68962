import type { WriteRequest } from './messages.js';

/** The part of a server in its ensemble at the moment. */
export interface Role {
  readonly name: 'looking' | 'leading' | 'following';
  /** Whether the server serves clients. */
  readonly isServing: boolean;
  submit(request: WriteRequest): void;
  /** Calls `server.synced` once everything that the leader has decided so far is here. */
  sync(requestId: number): void;
  /** Calls `server.revalidated` with the leader's answer. */
  revalidate(requestId: number, sessionId: bigint, timeoutMs: number): void;
  touch(sessionId: bigint, timeoutMs: number): void;
  /** The error number of a read in this session; 0 where it may be answered. */
  check(sessionId: bigint): number;
  /** Called after a transaction that ended the session was carried out here. */
  onSessionClosed(sessionId: bigint): void;
  stop(): void;
}

/** A server that knows no leader serves nobody and expires no session. */
export const LOOKING: Role = {
  name: 'looking',
  isServing: false,
  submit: () => undefined,
  sync: () => undefined,
  revalidate: () => undefined,
  touch: () => undefined,
  check: () => 0,
  onSessionClosed: () => undefined,
  stop: () => undefined,
};
