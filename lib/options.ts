import type { HistoryOptions } from './lock/past-hold.js';
import type { AuthSettings, KerberosSettings } from './session/options.js';
import type { TlsSettings, TlsSource } from './session/tls-settings.js';
import type { Acl } from './session/requests.js';

/** The options of an application's locks, given once. */
export interface DistributedLockOptions {
  /**
   * The servers, as `zk1:2181,zk2:2181,zk3:2181/chroot`. `memory:[name]` is an ensemble inside this process, for
   * development: its locks exclude no other process, so it is refused where `NODE_ENV` is `production`, unless `memory`
   * allows it.
   */
  readonly connect: string;
  /**
   * Only for `connect: 'memory:'`. `allowInProduction: true` says that this application will only ever have one
   * process, so that locks of this process are enough even where `NODE_ENV` is `production`.
   * @default { allowInProduction: false }
   */
  readonly memory?: { readonly allowInProduction?: boolean };
  /**
   * How long the servers keep a silent session, in milliseconds. The servers grant what their bounds allow. Choose more
   * than the longest pause of the process (GC), and at least four ticks. A hand-over after a crash takes about this
   * long.
   * @default 10000
   */
  readonly sessionTimeoutMs?: number;
  /** The servers' `tickTime` in milliseconds, or more. Certainty is computed from it. @default 2000 */
  readonly serverTickMs?: number;
  /**
   * What talks to the servers: `wire` is this package's own client. `native` is the C client in the npm package
   * `zookeeper` (version 7.3, to be installed beside this one), in a thread of its own. It can do less, and is rarely
   * worth it: docs/native-client.md says when.
   * @default 'wire'
   */
  readonly client?: 'wire' | 'native';
  /** An absolute path that is put in front of every key. @default none */
  readonly namespace?: string;
  /** Who the application is: a name and a password (digest), or a Kerberos principal. Each connection begins with it. */
  readonly auth?: DigestAuth | KerberosAuth;
  /**
   * Who may use the nodes, from the root of the namespace downward. With `creator` only clients with the same
   * credentials (`auth`, or the same subject of a client certificate) may; with `open` whoever reaches the servers may.
   * A list says it in ZooKeeper's terms, and must give all clients of a lock read, write, create and delete.
   * @default 'creator' with `auth`, 'open' without
   */
  readonly acl?: 'creator' | 'open' | readonly Acl[];
  /**
   * Speak TLS, to the servers' `secureClientPort`. The settings are those of `tls.connect()`, with `ca`, `cert` and
   * `key` in PEM. A function that returns them, or a promise of them, is asked before each connection is made, so that
   * certificates can be replaced without a restart.
   */
  readonly tls?: TlsSettings | (() => TlsSettings | Promise<TlsSettings>);
  /**
   * The longest wait for a lock, in milliseconds. A value below the session time-out plus a tick misses hand-overs
   * after a crash. @default 15000
   */
  readonly waitMs?: number;
  /**
   * How many may be ahead of a call that joins a lock's queue; behind more it fails with a LockQueueFullError at once.
   * It counts as the option of a call does, which comes first. It costs each call one read in front of its create.
   * @default Infinity, which costs nothing
   */
  readonly maxWaiting?: number;
  /**
   * How long the first connection may take, in milliseconds, apart from `waitMs`: an election may take longer than
   * anybody would wait for a lock. With `startup: 'eager'` the start waits this long and then fails. With `lazy` the
   * first calls connect, wait this long for the connection, and then the module's `waitMs` for their lock. A call with
   * its own `waitMs` keeps to that, connected or not; a call that tries once (`waitMs: 0`, `tryAcquire`) keeps to one
   * second.
   * @default 15000
   */
  readonly connectTimeoutMs?: number;
  /**
   * With `eager` the start waits for ZooKeeper for `connectTimeoutMs`, and fails without it. With `lazy` it does not
   * wait: a Nest application connects with the first lock, `createLockService` at once and in the background.
   * @default 'eager'
   */
  readonly startup?: 'eager' | 'lazy';
  /** How long holders may go on at shutdown, in milliseconds. @default 5000 */
  readonly shutdownGraceMs?: number;
  /** With `stop`, locks are lost as soon as the link is down, and not only when certainty ends. @default 'continue' */
  readonly onSuspended?: 'continue' | 'stop';
  /**
   * With `local`, locks of this process alone are given out while ZooKeeper is away. They exclude no other process.
   * @default 'reject'
   */
  readonly whenUnavailable?: 'reject' | 'local';
  /**
   * How long the next holder waits after a holder that vanished, in milliseconds. All clients of a key must agree.
   * @default 0
   */
  readonly lockDelayMs?: number;
  /**
   * From when on a Nest application warns, once per incident, in its log. false: never.
   * @default { heldMs: 300000, queueLength: 100, failures: 10 }
   */
  readonly alerts?: AlertThresholds | false;
  /**
   * Keeps the last holds of each key in ZooKeeper, for `history` of the lock doctor. No call waits for it. It costs each
   * process one read and one write a second at the most, of up to 16 KB.
   * @default nothing is kept, and nothing is written
   */
  readonly history?: HistoryOptions;
}

/** What is worth a warning. Infinity turns one of them off. */
export interface AlertThresholds {
  /** A lock is held for longer than this, in milliseconds. @default 300000 */
  readonly heldMs?: number;
  /** More than so many are ahead of a call that waits. @default 100 */
  readonly queueLength?: number;
  /** So many calls for a key fail, one after the other. @default 10 */
  readonly failures?: number;
}

/** Digest credentials. */
export interface DigestAuth {
  /** The name, without a colon. */
  readonly username: string;
  /** The password. It goes over the network in plain text unless `tls` is set. */
  readonly password: string;
}

/**
 * SASL with Kerberos (GSSAPI), by the package `kerberos`, an optional peer. The ticket is the one in the ticket cache
 * (`KRB5CCNAME`), or got from the keytab that `KRB5_CLIENT_KTNAME` names; each new connection looks for it anew.
 */
export interface KerberosAuth {
  readonly scheme: 'kerberos';
  /** The first part of the servers' principals. @default 'zookeeper' */
  readonly service?: string;
  /** The host in the principal of every server. @default the name of each server in `connect` */
  readonly host?: string;
  /** The application's own principal, where there are several to choose from. @default that of the cache or keytab */
  readonly principal?: string;
}

/** Every option with its checked value. Credentials are not enumerable, so that no log or error shows them. */
export interface ResolvedOptions extends Required<
  Omit<DistributedLockOptions, 'memory' | 'auth' | 'acl' | 'tls' | 'alerts' | 'history'>
> {
  readonly alerts: Required<AlertThresholds> | false;
  readonly history: Required<HistoryOptions> | undefined;
  /** Whether the locks are of this process alone. */
  readonly isInMemory: boolean;
  readonly auth: readonly AuthSettings[];
  readonly kerberos: KerberosSettings | undefined;
  /** The list that stands for the word, where the option is one. */
  readonly acl: readonly Acl[];
  readonly tls: TlsSettings | TlsSource | undefined;
}
