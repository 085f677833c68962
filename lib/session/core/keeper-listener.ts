import type { LockConfigurationError } from '../../lock/errors.js';
import type { SessionError } from '../errors.js';
import type { Credentials } from './abandoned-session.js';
import type { Connection } from './connection.js';
import type { Traffic } from './conversation.js';

export interface Granted extends Credentials {
  readonly timeoutMs: number;
}

/** Told what became of the link and of the session. */
export interface KeeperListener extends Traffic {
  /** A connection is attached. `fresh`: to a new session; all of an earlier one is gone. */
  onUp(connection: Connection, granted: Granted, fresh: boolean): void;
  onDown(cause: Error): void;
  /** Every server was tried once, and none has taken the session up. */
  onRoundInVain(): void;
  /** Until when what is held is certain; undefined when nothing is. */
  heldUntil(): number | undefined;
  /** The session is being offered to a server, which may shorten it. */
  onOffered(handshakeSentAt: number): void;
  /** The link has been down for S: the servers may have ended the session. */
  onOutOfTouch(): void;
  /** The session is over; another will follow. */
  onSessionEnded(error: SessionError): void;
  /** Going on makes no sense: the session is being closed. */
  onFailing(failure: LockConfigurationError): void;
  /** The end, asked for or not. */
  onClosed(): void;
}
