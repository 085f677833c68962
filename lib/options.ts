import type { AuthSettings, TlsSettings } from './session/options.js';
import type { Acl } from './session/requests.js';

/** What an application says once about its locks. */
export interface DistributedLockOptions {
  /**
   * `zk1:2181,zk2:2181,zk3:2181/chroot`, or `memory:[name]` for an ensemble inside this process, whose locks exclude no
   * other process: for development, and refused where `NODE_ENV` is `production` unless `memory` allows it.
   */
  readonly connect: string;
  /**
   * For `connect: 'memory:'` alone. `allowInProduction: true`: the application is the only one there will ever be, so that
   * locks of this process will do where `NODE_ENV` is `production`, too.
   * @default { allowInProduction: false }
   */
  readonly memory?: { readonly allowInProduction?: boolean };
  /**
   * How long the servers keep a silent session, in milliseconds: asked, the servers grant what their bounds allow. Longer
   * than the longest pause of the process (GC), and at least four ticks. It is about what a hand-over after a crash takes.
   * @default 10000
   */
  readonly sessionTimeoutMs?: number;
  /** The servers' `tickTime` in milliseconds, or more: certainty is computed from it. @default 2000 */
  readonly serverTickMs?: number;
  /** An absolute path in front of every key. @default none */
  readonly namespace?: string;
  /** Digest credentials, sent to the servers of each connection. */
  readonly auth?: {
    /** Without a colon. */
    readonly username: string;
    /** Goes over the network as it is, unless `tls` is set. */
    readonly password: string;
  };
  /** Who may do what with the nodes. @default with `auth`, those with the same credentials; anyone without */
  readonly acl?: readonly Acl[];
  /** Speak TLS, to the servers' `secureClientPort`: as `tls.connect()` takes it, `ca`, `cert` and `key` in PEM. */
  readonly tls?: TlsSettings;
  /** The longest wait for a lock, in milliseconds. Less than the session time-out and a tick misses hand-overs after a crash. @default 15000 */
  readonly waitMs?: number;
  /**
   * How long the first connection may take, in milliseconds, apart from `waitMs`: an election may take longer than anybody
   * would wait for a lock. With `startup: 'eager'` the start waits so long, and fails then. With `lazy` the first calls, which
   * make the connection, wait so long for it, and the module's `waitMs` for their lock from then on. A call with a `waitMs` of
   * its own keeps to that, connected or not, and one that tries once (`waitMs: 0`, `tryAcquire`) to the second of an answer.
   * @default 15000
   */
  readonly connectTimeoutMs?: number;
  /**
   * `eager`: the start waits for ZooKeeper for `connectTimeoutMs`, and fails without it. `lazy`: it does not wait; a Nest application then
   * connects with the first lock, `createLockService` at once and in the background.
   * @default 'eager'
   */
  readonly startup?: 'eager' | 'lazy';
  /** How long holders may go on at shutdown, in milliseconds. @default 5000 */
  readonly shutdownGraceMs?: number;
  /** `stop`: locks are lost as soon as the link is down, not when certainty ends. @default 'continue' */
  readonly onSuspended?: 'continue' | 'stop';
  /** `local`: give out locks of this process alone when ZooKeeper is away. They exclude nobody else. @default 'reject' */
  readonly whenUnavailable?: 'reject' | 'local';
  /** How long the next holder waits after one that vanished, in milliseconds; all clients of a key must agree. @default 0 */
  readonly lockDelayMs?: number;
}

/** Every option with its value, checked. Credentials are not enumerable, so that no log or error shows them. */
export interface ResolvedOptions {
  readonly connect: string;
  /** Whether its locks are of this process alone. */
  readonly isInMemory: boolean;
  readonly sessionTimeoutMs: number;
  readonly serverTickMs: number;
  readonly namespace: string;
  readonly auth: readonly AuthSettings[];
  readonly acl: readonly Acl[];
  readonly tls: TlsSettings | undefined;
  readonly waitMs: number;
  readonly connectTimeoutMs: number;
  readonly startup: 'eager' | 'lazy';
  readonly shutdownGraceMs: number;
  readonly onSuspended: 'continue' | 'stop';
  readonly whenUnavailable: 'reject' | 'local';
  readonly lockDelayMs: number;
}
