import type { Certificates } from './certificates.js';

/** How a server is to be; every one of an ensemble is alike. All is optional. */
export interface ServerOptions {
  /** The unit of ZooKeeper's clocks. @default 500 */
  tickTimeMs?: number;
  /** The least a session is granted. @default two ticks */
  minSessionTimeoutMs?: number;
  /** The most a session is granted. @default 20 ticks */
  maxSessionTimeoutMs?: number;
  /** Ticks a follower may take to join its leader. @default 20 */
  initLimit?: number;
  /** Ticks a follower may be silent before its leader drops it, and the other way round. @default 10 */
  syncLimit?: number;
  /** Write through to the disk before a write is answered, as in production. @default false */
  fsync?: boolean;
  /** How often empty containers are looked for. @default 60_000 */
  containerCheckIntervalMs?: number;
  /** The longest request or reply the server takes (`jute.maxbuffer`). @default 1 MB less a byte, the server's own */
  maxBufferBytes?: number;
  /** The password of the user `super`, who may do everything: `addauth digest super:<password>`. @default no such user */
  superPassword?: string;
  /** Nodes with a time to live, and containers' neighbours of the extended types. @default true */
  extendedTypes?: boolean;
  /** A second, TLS port (`securePort`) with the server certificate of these. @default none */
  tls?: { certificates: Certificates; clientAuth?: 'none' | 'want' | 'need' };
  /** More lines for zoo.cfg. */
  extraConfig?: Readonly<Record<string, string | number | boolean>>;
  /** More flags for the JVM, such as `-Dzookeeper.name=value`. */
  jvmFlags?: readonly string[];
  /** How long a start may take until the server serves. @default 30_000 */
  startWithinMs?: number;
}

/** Generous for tests of faults: a follower that is cut off is dropped after syncLimit ticks, 5 s by default. */
export const DEFAULT_TICK_TIME_MS = 500;
export const DEFAULT_INIT_LIMIT = 20;
export const DEFAULT_SYNC_LIMIT = 10;
export const DEFAULT_START_WITHIN_MS = 30_000;
