import { reservedSegment } from './engine/key.js';
import { LockConfigurationError } from './lock/errors.js';
import { shown } from './lock/shown.js';
import { describeUnknownOption } from './lock/unknown-option.js';
import type { DistributedLockOptions, ResolvedOptions } from './options.js';
import { type ConnectTarget, parseConnectString } from './session/connect-string.js';
import type { AuthSettings } from './session/options.js';
import { checkPath } from './session/paths.js';
import type { Acl } from './session/requests.js';
import { mistakeInTls } from './session/tls-mistakes.js';

const KNOWN: readonly (keyof DistributedLockOptions)[] = [
  'connect',
  'sessionTimeoutMs',
  'serverTickMs',
  'namespace',
  'auth',
  'acl',
  'tls',
  'waitMs',
  'connectTimeoutMs',
  'startup',
  'shutdownGraceMs',
  'onSuspended',
  'whenUnavailable',
  'lockDelayMs',
  'memory',
];

/**
 * A session time-out is an int of 32 bits on the wire. The other times only reach the clock, which takes any number.
 */
const MAX_SESSION_TIMEOUT_MS = 0x7fff_ffff;
const ALL_PERMISSIONS = 31;
const ANYONE: readonly Acl[] = [{ permissions: ALL_PERMISSIONS, scheme: 'world', id: 'anyone' }];
const CREATOR: readonly Acl[] = [{ permissions: ALL_PERMISSIONS, scheme: 'auth', id: '' }];

/**
 * Checks all options and fills in the defaults, in this one place.
 * @throws LockConfigurationError that names the option and what was expected
 */
export function resolveOptions(options: DistributedLockOptions): ResolvedOptions {
  if (typeof options !== 'object' || options === null) {
    refuse('options', `must be an object such as { connect: 'zk1:2181,zk2:2181' }, not ${shown(options)}`);
  }
  for (const name of Object.keys(options)) {
    if (!(KNOWN as readonly string[]).includes(name)) refuse(name, describeUnknownOption(name, KNOWN));
  }
  if (typeof options.connect !== 'string' || options.connect === '') {
    refuse(
      'connect',
      `must be a string such as 'zk1:2181,zk2:2181,zk3:2181/chroot' or 'memory:', not ${shown(options.connect)}`,
    );
  }
  const target = parseConnectString(options.connect);
  refuseReserved('connect', target.chroot);
  checkMemory(options, target);
  const auth = readAuth(options.auth);
  const resolved = {
    connect: options.connect,
    isInMemory: target.kind === 'memory',
    sessionTimeoutMs: milliseconds(options, 'sessionTimeoutMs', 10_000, 1, MAX_SESSION_TIMEOUT_MS),
    serverTickMs: milliseconds(options, 'serverTickMs', 2_000, 1),
    namespace: readNamespace(options.namespace),
    waitMs: milliseconds(options, 'waitMs', 15_000, 0),
    connectTimeoutMs: milliseconds(options, 'connectTimeoutMs', 15_000, 1),
    startup: oneOf(options, 'startup', ['eager', 'lazy']),
    shutdownGraceMs: milliseconds(options, 'shutdownGraceMs', 5_000, 0),
    onSuspended: oneOf(options, 'onSuspended', ['continue', 'stop']),
    whenUnavailable: oneOf(options, 'whenUnavailable', ['reject', 'local']),
    lockDelayMs: milliseconds(options, 'lockDelayMs', 0, 0),
    acl: readAcl(options.acl) ?? (auth.length > 0 ? CREATOR : ANYONE),
  };
  const tlsMistake = options.tls === undefined ? undefined : mistakeInTls(options.tls);
  if (tlsMistake !== undefined) refuse('tls', tlsMistake);
  // `defineProperties` makes members that are not enumerable, so no log or error shows the credentials.
  return Object.freeze(
    Object.defineProperties(resolved, { auth: { value: auth }, tls: { value: options.tls } }) as ResolvedOptions,
  );
}

/**
 * Refuses an ensemble in memory in production: with one per instance the locks of a fleet exclude nobody, and nothing
 * would show it.
 */
function checkMemory({ memory, connect }: DistributedLockOptions, target: ConnectTarget): void {
  const allows = memory?.allowInProduction;
  const isObject = memory === undefined || (typeof memory === 'object' && (memory as unknown) !== null);
  const strange = isObject ? Object.keys(memory ?? {}).find((name) => name !== 'allowInProduction') : 'memory';
  if (strange !== undefined || (allows !== undefined && typeof allows !== 'boolean')) {
    refuse('memory', `must be an object such as { allowInProduction: true }, not ${shown(memory)}`);
  }
  if (target.kind === 'ensemble') {
    if (memory !== undefined)
      refuse('memory', `is only for connect: 'memory:'. Remove it, because connect is ${shown(connect)}`);
    return;
  }
  if (allows === true || process.env['NODE_ENV'] !== 'production') return;
  refuse(
    'connect',
    `${shown(connect)} is refused where NODE_ENV is 'production', as its locks exclude nobody outside this process: name ` +
      "your ZooKeeper servers, such as 'zk1:2181,zk2:2181,zk3:2181'. If there will only ever be one process, allow it with " +
      'memory: { allowInProduction: true }',
  );
}

function readAuth(auth: DistributedLockOptions['auth']): readonly AuthSettings[] {
  if (auth === undefined) return [];
  if (
    typeof auth !== 'object' ||
    auth === null ||
    typeof auth.username !== 'string' ||
    auth.username === '' ||
    auth.username.includes(':') ||
    typeof auth.password !== 'string'
  ) {
    refuse('auth', 'must be { username, password }, two strings, the username without a colon');
  }
  return [{ scheme: 'digest', credential: Buffer.from(`${auth.username}:${auth.password}`) }];
}

function readAcl(acl: DistributedLockOptions['acl']): readonly Acl[] | undefined {
  const isEntry = (entry: Partial<Acl> | null): boolean =>
    isPermissions(entry?.permissions) && typeof entry?.scheme === 'string' && typeof entry.id === 'string';
  if (acl !== undefined && !(Array.isArray(acl) && acl.length > 0 && acl.every(isEntry))) {
    refuse(
      'acl',
      'must be a list, not empty, of { permissions, scheme, id }: a number from 1 to 31 (the sum of read 1, write 2, ' +
        'create 4, delete 8, admin 16) and two strings',
    );
  }
  return acl;
}

function isPermissions(permissions: unknown): boolean {
  return Number.isInteger(permissions) && Number(permissions) >= 1 && Number(permissions) <= ALL_PERMISSIONS;
}

function readNamespace(namespace = ''): string {
  // The root is no prefix: a key already begins with a slash.
  const path = namespace === '/' ? '' : namespace;
  if (typeof path !== 'string' || (path !== '' && checkPath(path) !== undefined)) {
    refuse('namespace', `must be an absolute path such as '/my-service', not ${shown(namespace)}`);
  }
  refuseReserved('namespace', path);
  return path;
}

/**
 * Refuses paths whose nodes would stand in the queue of a key, for clients that use the servers without this prefix.
 */
function refuseReserved(option: string, path: string): void {
  const segment = reservedSegment(path);
  if (segment === undefined) return;
  const what = `must not have the segment ${JSON.stringify(segment)}`;
  refuse(option, `${what}: it is reserved for the nodes of queues and sessions`);
}

type NumericOption =
  'sessionTimeoutMs' | 'serverTickMs' | 'waitMs' | 'connectTimeoutMs' | 'shutdownGraceMs' | 'lockDelayMs';

function milliseconds(
  options: DistributedLockOptions,
  name: NumericOption,
  byDefault: number,
  min: number,
  max = Infinity,
): number {
  const value = options[name] ?? byDefault;
  if (typeof value === 'number' && Number.isFinite(value) && value >= min && value <= max) return value;
  const most = max === Infinity ? '' : ` and at most ${max}`;
  return refuse(name, `must be a number of milliseconds, ${min} or more${most}, not ${shown(value)}`);
}

function oneOf<N extends 'startup' | 'onSuspended' | 'whenUnavailable', V extends ResolvedOptions[N]>(
  options: DistributedLockOptions,
  name: N,
  values: readonly [V, V],
): V {
  const value = options[name] === undefined ? values[0] : options[name];
  const known = values.find((one) => one === value);
  return known ?? refuse(name, `must be one of ${values.join(', ')}, not ${shown(value)}`);
}

function refuse(option: string, what: string): never {
  throw new LockConfigurationError(`${option}: ${what}`);
}
