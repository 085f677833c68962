import { reservedSegment } from './engine/key.js';
import {
  checkIsObject,
  checkOption,
  checkOptions,
  describeUnknownOption,
  must,
  MUST_BE_COUNT_OR_INFINITY,
  mustBeMilliseconds,
  mustBeOneOf,
  type OptionRule,
  refuse,
  withDefaults,
} from './lock/option-rules.js';
import { shown } from './lock/shown.js';
import type { AlertThresholds, DigestAuth, DistributedLockOptions, KerberosAuth, ResolvedOptions } from './options.js';
import { type ConnectTarget, parseConnectString } from './session/connect-string.js';
import { nativeRefusal } from './session/native-limits.js';
import type { AuthSettings, KerberosSettings } from './session/options.js';
import { checkPath } from './session/paths.js';
import { type Acl, ANYONE, isOpen } from './session/requests.js';
import { mistakeInTls } from './session/tls-settings.js';

/**
 * A session time-out is an int of 32 bits on the wire. The other times only reach the clock, which takes any number.
 */
const MAX_SESSION_TIMEOUT_MS = 0x7fff_ffff;
const ALL_PERMISSIONS = 31;
/** The lists that the words stand for. The servers replace `auth` by all that the client has proved to be. */
const ACL_BY_WORD: Readonly<Record<'creator' | 'open', readonly Acl[]>> = {
  creator: [{ permissions: ALL_PERMISSIONS, scheme: 'auth', id: '' }],
  open: ANYONE,
};

const DEFAULTS: Omit<
  ResolvedOptions,
  'connect' | 'isInMemory' | 'namespace' | 'auth' | 'kerberos' | 'acl' | 'tls' | 'alerts' | 'history'
> = {
  sessionTimeoutMs: 10_000,
  serverTickMs: 2_000,
  client: 'wire',
  waitMs: 15_000,
  maxWaiting: Infinity,
  connectTimeoutMs: 15_000,
  startup: 'eager',
  shutdownGraceMs: 5_000,
  onSuspended: 'continue',
  whenUnavailable: 'reject',
  lockDelayMs: 0,
};

const ALERTS: Required<AlertThresholds> = { heldMs: 300_000, queueLength: 100, failures: 10 };

const RULES: Readonly<Record<keyof DistributedLockOptions, OptionRule>> = {
  connect: must(
    "a string such as 'zk1:2181,zk2:2181,zk3:2181/chroot' or 'memory:'",
    (value) => typeof value === 'string' && value !== '',
  ),
  sessionTimeoutMs: mustBeMilliseconds(1, MAX_SESSION_TIMEOUT_MS),
  serverTickMs: mustBeMilliseconds(1),
  client: mustBeOneOf(['wire', 'native']),
  namespace: must("an absolute path such as '/my-service'", isNamespace),
  // What could be a secret is not shown.
  auth: mistakeInAuth,
  acl: (value) => (isAcl(value) ? undefined : ACL_EXPECTED),
  tls: mistakeInTls,
  waitMs: mustBeMilliseconds(0),
  maxWaiting: MUST_BE_COUNT_OR_INFINITY,
  connectTimeoutMs: mustBeMilliseconds(1),
  startup: mustBeOneOf(['eager', 'lazy']),
  shutdownGraceMs: mustBeMilliseconds(0),
  onSuspended: mustBeOneOf(['continue', 'stop']),
  whenUnavailable: mustBeOneOf(['reject', 'local']),
  lockDelayMs: mustBeMilliseconds(0),
  alerts: mistakeInAlerts,
  history: mistakeInHistory,
  memory: must('an object such as { allowInProduction: true }', isMemory),
};

const ACL_EXPECTED =
  "must be 'creator', 'open', or a list, not empty, of { permissions, scheme, id }: a number from 1 to 31 (the sum of " +
  'read 1, write 2, create 4, delete 8, admin 16) and two strings';

/**
 * Checks all options and fills in the defaults, in this one place.
 * @throws LockConfigurationError that names the option and what was expected
 */
export function resolveOptions(options: DistributedLockOptions): ResolvedOptions {
  checkIsObject('options:', options, " such as { connect: 'zk1:2181,zk2:2181' }");
  checkOptions(options, RULES);
  const { connect, namespace = '', auth, acl, tls } = options;
  checkOption('connect', connect, RULES.connect);
  const target = parseConnectString(connect);
  refuseReserved('connect', target.chroot);
  refuseReserved('namespace', namespace);
  checkMemory(options, target);
  checkCreator(options);
  if (options.client === 'native') checkNative(options, target);
  const resolved = {
    ...withDefaults(options, DEFAULTS),
    connect,
    isInMemory: target.kind === 'memory',
    // The root is no prefix: a key already begins with a slash.
    namespace: namespace === '/' ? '' : namespace,
    alerts: options.alerts === false ? (false as const) : withDefaults(options.alerts ?? {}, ALERTS),
    history: options.history && { keep: options.history.keep, overMs: options.history.overMs ?? 0 },
    acl: aclOf(acl ?? (auth === undefined ? 'open' : 'creator')),
  };
  // `defineProperties` makes members that are not enumerable, so no log or error shows the credentials.
  const secrets = {
    auth: { value: credentialsOf(auth, target) },
    kerberos: { value: isKerberos(auth) && target.kind === 'ensemble' ? kerberosOf(auth) : undefined },
    tls: { value: tls },
  };
  return Object.freeze(Object.defineProperties(resolved, secrets) as ResolvedOptions);
}

/** Refuses an ensemble in memory in production, unless it is allowed there. */
function checkMemory({ memory, connect }: DistributedLockOptions, { kind }: ConnectTarget): void {
  if (kind === 'ensemble') {
    if (memory === undefined) return;
    refuse(`memory: is only for connect: 'memory:'. Remove it, because connect is ${shown(connect)}`);
  }
  if (memory?.allowInProduction === true || process.env['NODE_ENV'] !== 'production') return;
  // With one such ensemble per instance the locks of a fleet exclude nobody, and nothing would show it.
  refuse(
    `connect: ${shown(connect)} is refused where NODE_ENV is 'production', as its locks exclude nobody outside this process: name ` +
      "your ZooKeeper servers, such as 'zk1:2181,zk2:2181,zk3:2181'. If there will only ever be one process, allow it with " +
      'memory: { allowInProduction: true }',
  );
}

/** Refuses `acl: 'creator'` for a client without credentials. */
function checkCreator({ acl, auth, tls }: DistributedLockOptions): void {
  if (acl !== 'creator' || auth !== undefined) return;
  // What a function returns is known only when a server is dialled.
  if (typeof tls === 'function' || (tls?.cert ?? tls?.pfx ?? undefined) !== undefined) return;
  // Servers cannot tell such a client from anybody else, and would refuse each node of its.
  refuse(
    "acl: 'creator' is for clients that the servers can tell apart: set auth, or tls with the cert and key of this client",
  );
}

function aclOf(acl: NonNullable<DistributedLockOptions['acl']>): readonly Acl[] {
  return typeof acl === 'string' ? ACL_BY_WORD[acl] : acl;
}

/** Refuses what the package behind `native` cannot do. */
function checkNative({ tls, auth, acl, lockDelayMs = 0 }: DistributedLockOptions, { kind }: ConnectTarget): void {
  if (kind === 'memory') throw nativeRefusal('memory:');
  if (tls !== undefined) throw nativeRefusal('tls');
  if (auth !== undefined) throw nativeRefusal('auth');
  if (acl !== undefined && !isOpen(aclOf(acl))) throw nativeRefusal('acl');
  if (lockDelayMs > 0) throw nativeRefusal('lockDelayMs');
}

function mistakeInAlerts(alerts: unknown): string | undefined {
  if (alerts === false) return undefined;
  if (typeof alerts !== 'object' || alerts === null) return `must be false or thresholds, not ${shown(alerts)}`;
  for (const [name, value] of Object.entries(alerts)) {
    if (!Object.hasOwn(ALERTS, name)) return describeUnknownOption(name, Object.keys(ALERTS));
    if (value !== undefined && !(typeof value === 'number' && value > 0))
      return `${name} must be a number above 0, or Infinity, not ${shown(value)}`;
  }
  return undefined;
}

const HISTORY_RULES = {
  keep: must(
    'a whole number from 1 to 100',
    (keep) => Number.isInteger(keep) && (keep as number) >= 1 && (keep as number) <= 100,
  ),
  overMs: mustBeMilliseconds(0),
};

function mistakeInHistory(history: unknown): string | undefined {
  if (typeof history !== 'object' || history === null)
    return `must be an object such as { keep: 20, overMs: 1000 }, not ${shown(history)}`;
  for (const name of Object.keys(history))
    if (!Object.hasOwn(HISTORY_RULES, name)) return describeUnknownOption(name, Object.keys(HISTORY_RULES));
  const { keep, overMs = 0 } = history as { readonly keep?: unknown; readonly overMs?: unknown };
  const [ofKeep, ofOverMs] = [HISTORY_RULES.keep(keep), HISTORY_RULES.overMs(overMs)];
  if (ofKeep !== undefined) return `keep ${ofKeep}`;
  return ofOverMs === undefined ? undefined : `overMs ${ofOverMs}`;
}

function isMemory(memory: unknown): boolean {
  if (typeof memory !== 'object' || memory === null) return false;
  const { allowInProduction: allows, ...others } = memory as NonNullable<DistributedLockOptions['memory']>;
  return Object.keys(others).length === 0 && (allows === undefined || typeof allows === 'boolean');
}

function mistakeInAuth(auth: unknown): string | undefined {
  const given = (auth ?? {}) as Readonly<Record<string, unknown>>;
  if (given['scheme'] !== undefined) return mistakeInKerberos(given);
  const { username, password } = given;
  const fits =
    typeof username === 'string' && username !== '' && !username.includes(':') && typeof password === 'string';
  if (fits) return undefined;
  return "must be { username, password }, two strings, the username without a colon, or { scheme: 'kerberos' }";
}

/** The parts of a principal's name that would change which principal it is. */
const PRINCIPAL_MARKS = /[/@\s]/;

function mistakeInKerberos({ scheme, ...names }: Readonly<Record<string, unknown>>): string | undefined {
  if (scheme !== 'kerberos') return "scheme must be 'kerberos', or left out for { username, password }";
  for (const [name, value] of Object.entries(names)) {
    if (name !== 'service' && name !== 'host' && name !== 'principal') {
      return `${name} is not a setting of kerberos (the settings are: service, host, principal); tickets and keytabs are those of the system`;
    }
    if (value === undefined) continue;
    if (typeof value !== 'string' || value === '') return `${name} must be a text, not empty`;
    if (name !== 'principal' && PRINCIPAL_MARKS.test(value)) {
      return `${name} must be one part of a principal, without / and @: zookeeper and zk1 of zookeeper/zk1@EXAMPLE.COM`;
    }
  }
  return undefined;
}

function isKerberos(auth: DistributedLockOptions['auth']): auth is KerberosAuth {
  return auth !== undefined && 'scheme' in auth;
}

function credentialsOf(auth: DistributedLockOptions['auth'], { kind }: ConnectTarget): readonly AuthSettings[] {
  if (auth === undefined) return [];
  if (!isKerberos(auth)) return [digestOf(auth)];
  // Nobody has a ticket for a server in memory, which takes everybody at his word.
  return kind === 'ensemble' ? [] : [digestOf({ username: auth.principal ?? 'kerberos', password: '' })];
}

function digestOf({ username, password }: DigestAuth): AuthSettings {
  return { scheme: 'digest', credential: Buffer.from(`${username}:${password}`) };
}

function kerberosOf({ service = 'zookeeper', host, principal }: KerberosAuth): KerberosSettings {
  return { service, host, principal };
}

function isAcl(acl: unknown): boolean {
  const isEntry = (entry: Partial<Acl> | null): boolean =>
    isPermissions(entry?.permissions) && typeof entry?.scheme === 'string' && typeof entry.id === 'string';
  if (typeof acl === 'string') return Object.hasOwn(ACL_BY_WORD, acl);
  return Array.isArray(acl) && acl.length > 0 && acl.every(isEntry);
}

function isPermissions(permissions: unknown): boolean {
  return Number.isInteger(permissions) && Number(permissions) >= 1 && Number(permissions) <= ALL_PERMISSIONS;
}

function isNamespace(path: unknown): boolean {
  return path === '' || (typeof path === 'string' && checkPath(path) === undefined);
}

/** Refuses prefixes with a segment that belongs to queues and sessions. */
function refuseReserved(option: string, path: string): void {
  const segment = reservedSegment(path);
  if (segment === undefined) return;
  // For clients that use the servers without this prefix, the nodes below it would stand in the queue of a key.
  refuse(
    `${option}: must not have the segment ${JSON.stringify(segment)}: it is reserved for the nodes of queues and sessions`,
  );
}
