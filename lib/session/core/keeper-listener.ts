import type { LockConfigurationError } from '../../lock/errors.js';
import type { SessionError } from '../errors.js';
import type { Credentials } from './abandoned-session.js';
import type { Connection } from './connection.js';
import type { Traffic } from './conversation.js';

export interface Granted extends Credentials {
  readonly timeoutMs: number;
}

/** Hears what becomes of the link and of the session. */
export interface KeeperListener extends Traffic {
  /** A connection is attached. `fresh` tells that the session is new; everything of an earlier session is gone. */
  onUp(connection: Connection, granted: Granted, fresh: boolean): void;
  onDown(cause: Error): void;
  /** Every server was tried once, and none took the session up. */
  onRoundInVain(): void;
  /** The instant until which held locks are certain; undefined when nothing is held. */
  heldUntil(): number | undefined;
  /** The session is being offered to a server, and that server may shorten it. */
  onOffered(handshakeSentAt: number): void;
  /** The link has been down for S, so the servers may have ended the session. */
  onOutOfTouch(): void;
  /** The session is over. Another one will follow. */
  onSessionEnded(error: SessionError): void;
  /** The client gives up for good. The session is being closed. */
  onFailing(failure: LockConfigurationError): void;
  /** The client is closed, whether that was asked for or not. */
  onClosed(): void;
}
