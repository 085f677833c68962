import type { ConnectionOptions } from 'node:tls';
import type { Clock } from '../lock/clock.js';
import type { Server } from './core/link.js';
import type { Acl } from './requests.js';

/** Resolved and checked: what every kind of session needs to know. */
export interface SessionSettings {
  readonly servers: readonly Server[];
  /** '' or an absolute path that is put in front of every path. */
  readonly chroot: string;
  /** Asked of the server; what it grants counts. */
  readonly sessionTimeoutMs: number;
  /** The servers' `tickTime`, or more. */
  readonly serverTickMs: number;
  /** The absolute path (inside the chroot; '' for its root) under which `.sessions` lies, for the session's own heartbeat writes. */
  readonly namespace: string;
  readonly auth: readonly AuthSettings[];
  /** For creates that name none. */
  readonly acl: readonly Acl[];
  readonly clock: Clock;
  /** In [0, 1): the order of servers, jitter. */
  readonly random: () => number;
}

export interface AuthSettings {
  readonly scheme: string;
  readonly credential: Uint8Array;
}

export type TlsSettings = Pick<
  ConnectionOptions,
  | 'ca'
  | 'cert'
  | 'key'
  | 'pfx'
  | 'passphrase'
  | 'servername'
  | 'rejectUnauthorized'
  | 'minVersion'
  | 'maxVersion'
  | 'ciphers'
  | 'ecdhCurve'
  | 'sigalgs'
  | 'crl'
  | 'checkServerIdentity'
>;
