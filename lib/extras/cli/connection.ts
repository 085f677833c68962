import { readFileSync } from 'node:fs';
import type { Connection, Flag } from './command.js';
import { choiceOf, type Flags, spanOf } from './flags.js';
import { UsageError } from './usage-error.js';

/** The options of the connection. Each can stand in the environment instead: `--tls-ca` as ZK_LOCK_TLS_CA. */
export const CONNECTION_FLAGS: readonly Flag[] = [
  { name: 'connect', value: 'SERVERS', text: 'as the application has it: zk1:2181,zk2:2181/app' },
  { name: 'namespace', value: 'PATH', text: 'what the application puts in front of keys' },
  { name: 'auth-digest-file', value: 'FILE', text: 'digest: a file with user:password in one line' },
  { name: 'kerberos', text: "Kerberos, with the system's tickets" },
  { name: 'kerberos-service', value: 'NAME', text: "the servers' service name (zookeeper)" },
  { name: 'kerberos-host', value: 'HOST', text: "the host in the servers' principals" },
  { name: 'kerberos-principal', value: 'NAME', text: "this client's principal" },
  { name: 'acl', value: 'WHO', text: 'creator or open: who may use nodes made here' },
  { name: 'tls', text: 'speak TLS; the servers have a port for it' },
  { name: 'tls-ca', value: 'FILE', text: 'authorities to trust, PEM; implies --tls' },
  { name: 'tls-cert', value: 'FILE', text: 'the certificate of this client, PEM' },
  { name: 'tls-key', value: 'FILE', text: 'its key, PEM' },
  { name: 'tls-pfx', value: 'FILE', text: 'both in one file, PKCS#12' },
  { name: 'tls-servername', value: 'NAME', text: "the name in the servers' certificates" },
  { name: 'session-timeout', value: 'TIME', text: 'the session time-out to ask for (10s)' },
  { name: 'server-tick', value: 'TIME', text: "the servers' tickTime, or more (2s)" },
  { name: 'connect-timeout', value: 'TIME', text: 'how long connecting may take (15s)' },
  { name: 'wait', value: 'TIME', text: 'the longest wait for an answer (15s); of run, for the lock (no limit)' },
];

/** The environment alone may give these, since everybody on a machine can read the arguments of its processes. */
const SECRETS = { digest: 'ZK_LOCK_AUTH_DIGEST', passphrase: 'ZK_LOCK_TLS_PASSPHRASE' } as const;
const YES = /^(1|true|yes|on)$/i;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The connection as the options and the environment say it; options come first.
 * @throws UsageError
 */
export function connectionOf(flags: Flags, environment: Environment): Connection {
  const given = new Settings(flags, environment);
  const connect = given.text('connect');
  if (connect === undefined || connect.trim() === '')
    throw new UsageError('which servers? Give --connect zk1:2181,zk2:2181/chroot, or set ZK_LOCK_CONNECT');
  if (connect.trim().startsWith('memory:'))
    throw new UsageError('--connect memory: is inside the process of an application, and cannot be seen from here');
  const auth = authOf(given, environment);
  const tls = tlsOf(given, environment);
  const acl = given.choice('acl', ['creator', 'open']);
  return {
    connect,
    ...present({
      namespace: given.text('namespace'),
      sessionTimeoutMs: given.span('session-timeout'),
      serverTickMs: given.span('server-tick'),
      connectTimeoutMs: given.span('connect-timeout'),
      waitMs: given.span('wait'),
      auth,
      acl,
      tls,
    }),
  };
}

/**
 * Repeats the options of the connection for a line that people paste, except the namespace, which such a line names by itself. Settings of
 * the environment hold for that line, too. Options on a command line hold no secret, so all of them are repeated.
 */
export function connectionWords(flags: Flags, { auth, namespace = '' }: Connection): string[] {
  const words = CONNECTION_FLAGS.flatMap(({ name, value }) => {
    if (value === undefined) return flags.isSet(name) ? [`--${name}`] : [];
    const text = flags.text(name);
    if (text === undefined || (name === 'namespace' && namespace !== '')) return [];
    return text.startsWith('-') ? [`--${name}=${text}`] : [`--${name}`, text];
  });
  const isKerberos = auth !== undefined && 'scheme' in auth && auth.scheme === 'kerberos';
  // The line must name the package that Kerberos needs, whoever has asked for it.
  return isKerberos && !words.includes('--kerberos') ? [...words, '--kerberos'] : words;
}

/** The options of this call, and in their place the environment. */
class Settings {
  constructor(
    private readonly flags: Flags,
    private readonly environment: Environment,
  ) {}

  text(name: string): string | undefined {
    // An empty variable is one that somebody wanted to take away.
    return this.flags.text(name) ?? (this.environment[variableOf(name)] || undefined);
  }

  isSet(name: string): boolean {
    return this.flags.isSet(name) || YES.test(this.environment[variableOf(name)] ?? '');
  }

  span(name: string): number | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : spanOf(this.#sourceOf(name), value);
  }

  choice<const Value extends string>(name: string, values: readonly Value[]): Value | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : choiceOf(this.#sourceOf(name), value, values);
  }

  file(name: string): string | undefined {
    return this.bytes(name)?.toString('utf8');
  }

  bytes(name: string): Buffer | undefined {
    const path = this.text(name);
    if (path === undefined) return undefined;
    try {
      return readFileSync(path);
    } catch (error) {
      throw new UsageError(`--${name}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
    }
  }

  /** What a person has to correct. */
  #sourceOf(name: string): string {
    return this.flags.text(name) === undefined ? variableOf(name) : `--${name}`;
  }
}

function variableOf(name: string): string {
  return `ZK_LOCK_${name.replaceAll('-', '_').toUpperCase()}`;
}

function authOf(given: Settings, environment: Environment): Connection['auth'] {
  const digest = given.file('auth-digest-file')?.trim() ?? (environment[SECRETS.digest]?.trim() || undefined);
  const names = {
    service: given.text('kerberos-service'),
    host: given.text('kerberos-host'),
    principal: given.text('kerberos-principal'),
  };
  const isKerberos = given.isSet('kerberos') || Object.values(names).some((name) => name !== undefined);
  if (isKerberos && digest !== undefined)
    throw new UsageError('--kerberos or a digest: the connection has one of them');
  if (isKerberos) return { scheme: 'kerberos', ...present(names) };
  if (digest === undefined) return undefined;
  const colon = digest.indexOf(':');
  // The text itself is not shown: it is a password, or half of one. A second line would be taken for a part of the password.
  if (colon < 1 || /[\r\n]/.test(digest))
    throw new UsageError(`--auth-digest-file (or ${SECRETS.digest}) must hold user:password, in one line`);
  return { username: digest.slice(0, colon), password: digest.slice(colon + 1) };
}

function tlsOf(given: Settings, environment: Environment): Connection['tls'] {
  const settings = present({
    ca: given.file('tls-ca'),
    cert: given.file('tls-cert'),
    key: given.file('tls-key'),
    pfx: given.bytes('tls-pfx'),
    servername: given.text('tls-servername'),
  });
  if (!given.isSet('tls') && Object.keys(settings).length === 0) return undefined;
  return { ...settings, ...present({ passphrase: environment[SECRETS.passphrase] }) };
}

/** The members that are not undefined. */
function present<Value extends object>(value: Value): { [Name in keyof Value]?: NonNullable<Value[Name]> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as {
    [Name in keyof Value]?: NonNullable<Value[Name]>;
  };
}
