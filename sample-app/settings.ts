import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What differs from one instance, or one test, to the next. */
export interface Settings {
  /** A ZooKeeper (`host:2181,...`), or `memory:[name]` for one inside this process. */
  readonly connect: string;
  /** The shared volume: all instances of a fleet have the same one. */
  readonly dataDir: string;
  /** Whether the files go when the instance ends. */
  readonly isDataDirTemporary: boolean;
  /** How long a request waits for a busy lock before it is answered with 423. */
  readonly waitMs: number;
  readonly sessionTimeoutMs: number;
  readonly serverTickMs: number;
  /** What operators have to know; undefined where only this machine may reach their pages. */
  readonly operatorPassword?: string | undefined;
}

/** Injection token. */
export const SETTINGS = Symbol('Settings');

const EMBEDDED = 'memory:';

export function isEmbedded({ connect }: Pick<Settings, 'connect'>): boolean {
  return connect.startsWith(EMBEDDED);
}

export function settingsFrom(environment: NodeJS.ProcessEnv): Settings {
  const connect = textIn(environment, 'ZOOKEEPER_CONNECT') ?? EMBEDDED;
  const dataDir = textIn(environment, 'DATA_DIR') ?? join(tmpdir(), 'nestjs-zookeeper-lock-sample');
  // An ensemble in memory counts its tokens from the start again: what an earlier one fenced would refuse them all.
  const isDataDirTemporary = isEmbedded({ connect });
  return {
    connect,
    dataDir: isDataDirTemporary ? join(dataDir, `embedded-${Date.now()}-${process.pid}`) : dataDir,
    isDataDirTemporary,
    waitMs: numberIn(environment, 'LOCK_WAIT_MS', 15_000),
    sessionTimeoutMs: numberIn(environment, 'SESSION_TIMEOUT_MS', 10_000),
    serverTickMs: numberIn(environment, 'SERVER_TICK_MS', 2_000),
    operatorPassword: textIn(environment, 'OPERATOR_PASSWORD'),
  };
}

const LOOPBACK = '127.0.0.1';

/** Whoever reaches the port may change every file: others have to be let in by a word of the operator. */
export function hostFrom(environment: NodeJS.ProcessEnv): string {
  return textIn(environment, 'HOST') ?? LOOPBACK;
}

/** For the log, at the start. */
export function whoReaches(host: string): string {
  return host === LOOPBACK
    ? `Only this machine reaches it (${LOOPBACK}). HOST=0.0.0.0 lets others in, who may then change every file`
    : `It listens on ${host} (HOST): whoever reaches that may change every file`;
}

export function portFrom(environment: NodeJS.ProcessEnv): number {
  return numberIn(environment, 'PORT', 3000);
}

function numberIn(environment: NodeJS.ProcessEnv, name: string, byDefault: number): number {
  const text = textIn(environment, name);
  if (text === undefined) return byDefault;
  if (/^\d+$/.test(text)) return Number(text);
  throw new Error(`The environment variable ${name} must be a whole number, not '${text}'`);
}

/** `NAME= npm start` means the same as not naming it. */
function textIn(environment: NodeJS.ProcessEnv, name: string): string | undefined {
  const text = environment[name];
  return text === '' ? undefined : text;
}
