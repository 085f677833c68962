import type { Clock } from '../lock/clock.js';
import type { Authenticator } from './core/authentication.js';
import type { Server } from './core/link.js';
import type { Acl } from './requests.js';

/** The resolved and checked settings that every kind of session needs. */
export interface SessionSettings {
  readonly servers: readonly Server[];
  /** '' or an absolute path that stands in front of every path at the server. */
  readonly chroot: string;
  /** The time-out that is asked for; the one that the server grants counts. */
  readonly sessionTimeoutMs: number;
  /** The servers' `tickTime`, or more. */
  readonly serverTickMs: number;
  /**
   * The absolute path (inside the chroot; '' for its root) under which `.sessions` lies, for the session's own
   * heartbeat nodes.
   */
  readonly namespace: string;
  readonly auth: readonly AuthSettings[];
  /** Undefined where the client proves nothing, or only by `auth`. */
  readonly authenticator?: Authenticator | undefined;
  /** The access rights of creates that name none. */
  readonly acl: readonly Acl[];
  /** Whether the client has plain requests only: no `multi`, and no access rights on a create. @default false */
  readonly isPlain?: boolean | undefined;
  readonly clock: Clock;
  /** A number in [0, 1) for the order of servers and for jitter. */
  readonly random: () => number;
}

export interface AuthSettings {
  readonly scheme: string;
  readonly credential: Uint8Array;
}

/** Who proves to be whom by Kerberos. The tickets, keys and realms are those of this machine. */
export interface KerberosSettings {
  /** The first part of the servers' principals. */
  readonly service: string;
  /** The host in the principal of every server; undefined where each has the name under which it is connected to. */
  readonly host: string | undefined;
  /** This client's principal; undefined for that of its ticket cache, or of its keytab. */
  readonly principal: string | undefined;
}
