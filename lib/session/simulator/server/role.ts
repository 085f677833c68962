import type { WriteRequest } from './messages.js';

/** What a server is to its ensemble at the moment. */
export interface Role {
  readonly name: 'looking' | 'leading' | 'following';
  /** Whether clients are served. */
  readonly isServing: boolean;
  submit(request: WriteRequest): void;
  /** Calls `server.synced` once all that the leader has decided by now is here. */
  sync(requestId: number): void;
  /** Calls `server.revalidated` with the leader's answer. */
  revalidate(requestId: number, sessionId: bigint, timeoutMs: number): void;
  touch(sessionId: bigint, timeoutMs: number): void;
  /** 0, or the error number of a read that comes with this session. */
  check(sessionId: bigint): number;
  /** Told after a transaction has been carried out here. */
  onSessionClosed(sessionId: bigint): void;
  stop(): void;
}

/** No leader known: nobody is served, and nobody expires anyone. */
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
