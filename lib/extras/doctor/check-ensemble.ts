import { randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { type LockService, sessionAccess } from '../../engine/lock-service.js';
import { LockConfigurationError, LockError } from '../../lock/errors.js';
import { withJson } from '../../lock/json.js';
import { createLockService, resolveOptions } from '../../open.js';
import { parseConnectString } from '../../session/connect-string.js';
import { SessionError } from '../../session/errors.js';
import { refusal } from '../../session/patient-link.js';
import { get, remove, set } from '../../session/requests.js';
import type { Session } from '../../session/session.js';
import { checkDoctorOptions, type LockDoctorOptions } from './doctor-options.js';
import {
  type CheckItem,
  type CommitTimes,
  commitTimesOf,
  type EnsembleCheck,
  type EnsembleMeasures,
  rounded,
} from './ensemble-check.js';
import { judgeEnsemble, worstOf } from './judge-ensemble.js';
import { askServer } from './server-report.js';

export interface EnsembleCheckOptions extends Omit<LockDoctorOptions, 'logger'> {
  /** The path below which the application has its keys. The check acquires a lock of its own below it. @default '/' */
  readonly prefix?: string;
  /** The check fails if more than one of 100 writes takes longer, in milliseconds. @default a quarter of the granted session time-out */
  readonly maxCommitMs?: number;
}

/** Locks of the check lie below a node of this name. */
const CHECK_SEGMENT = 'zk-lock-check';
const WRITES = 100;
/** Slow servers need not carry out all of the writes. */
const WRITE_FOR_MS = 10_000;
/** The loop is listened to for so long. */
const LISTEN_FOR_MS = 1_000;
const RESOLUTION_MS = 10;
const NANOSECONDS = 1e6;
const LONGEST_TIMEOUT_MS = 0x7fff_ffff;

/**
 * Looks whether locks will work with these options, before an application is started with them: what the servers grant, how long a write
 * takes, whether a lock can be acquired. It opens up to three sessions, and leaves nothing behind.
 * @throws InvalidLockKeyError where the prefix is none, LockUnavailableError where no ZooKeeper answers in time
 */
export async function checkEnsemble(options: EnsembleCheckOptions): Promise<EnsembleCheck> {
  const { prefix = '/', maxCommitMs, ...connection } = options;
  checkDoctorOptions(connection);
  const resolved = resolveOptions(connection);
  const { servers = [] } = parseConnectString(resolved.connect) as {
    readonly servers?: readonly { host: string; port: number }[];
  };
  const reports = Promise.all(servers.map((server) => askServer(server, resolved.tls, resolved.connectTimeoutMs)));
  const found = await measured(connection, prefix === '/' ? '' : prefix, resolved.sessionTimeoutMs);
  const measures: EnsembleMeasures = { ...NOTHING, ...found.measures, servers: await reports };
  const items = [...judgeEnsemble(measures, { options: resolved, maxCommitMs, nowMs: Date.now() }), ...found.failures];
  return withJson({ at: new Date(), outcome: worstOf(items), items, ...measures });
}

const NOTHING: Omit<EnsembleMeasures, 'servers'> = {
  sessionTimeoutMs: undefined,
  sessionBoundsMs: undefined,
  commits: undefined,
  lockMs: undefined,
  loopDelayMs: undefined,
  serverClockAheadMs: undefined,
};

type Found = { readonly measures: Partial<EnsembleMeasures>; readonly failures: readonly CheckItem[] };

/** Settings of the servers that rule locks out become a finding; servers that are away, an error. */
async function measured(connection: LockDoctorOptions, prefix: string, askedMs: number): Promise<Found> {
  let measures: Partial<EnsembleMeasures> = {};
  try {
    await using locks = await createLockService(connection);
    const { session, queuePathOf } = locks[sessionAccess]();
    // What is wrong with the prefix is told of the prefix, and not of the check's own key below it.
    if (prefix !== '') queuePathOf(prefix);
    const granted = session.identity?.timeoutMs ?? askedMs;
    measures = { sessionTimeoutMs: { asked: askedMs, granted }, sessionBoundsMs: await boundsOf(connection) };
    return {
      measures: { ...measures, ...(await tried(locks, `${prefix}/${CHECK_SEGMENT}/${randomUUID()}`)) },
      failures: [],
    };
  } catch (error) {
    if (!(error instanceof LockConfigurationError)) throw error;
    const name = measures.sessionTimeoutMs === undefined ? 'connection' : 'access';
    return { measures, failures: [{ name, outcome: 'failed', text: error.details, advice: undefined }] };
  }
}

/** Acquires a lock as an application does, and writes to its node. */
async function tried(locks: LockService, key: string): Promise<Partial<EnsembleMeasures>> {
  const { session, queuePathOf } = locks[sessionAccess]();
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  const listened = pause(LISTEN_FOR_MS);
  const askedAt = performance.now();
  const lock = await locks.acquire(key, { label: 'zk-lock check' });
  const acquiredMs = performance.now() - askedAt;
  try {
    const written = await writeAgain(session, lock.nodePath);
    await listened;
    delays.disable();
    const releasedAt = performance.now();
    await lock.release();
    return {
      ...written,
      lockMs: rounded(acquiredMs + performance.now() - releasedAt),
      loopDelayMs: rounded(Math.max(0, delays.max / NANOSECONDS - RESOLUTION_MS)),
    };
  } finally {
    delays.disable();
    await lock.release();
    // The servers would remove both in a minute. The upper one may be in use by another check.
    const path = queuePathOf(key);
    await session.batch([remove(path), remove(path.slice(0, path.lastIndexOf('/')))]);
  }
}

/** Writes what is there already, again and again. */
async function writeAgain(
  session: Session,
  path: string,
): Promise<{ readonly commits: CommitTimes; readonly serverClockAheadMs: number | undefined }> {
  const [found] = await session.batch([get(path)]);
  if (found instanceof SessionError) throw refusal(found, path);
  const times: number[] = [];
  let best = { tookMs: Infinity, aheadMs: 0 };
  const startedAt = performance.now();
  while (times.length < WRITES && performance.now() - startedAt < WRITE_FOR_MS) {
    const sentAt = performance.now();
    const [written] = await session.batch([set(path, found.data)]);
    const tookMs = performance.now() - sentAt;
    if (written instanceof SessionError) throw refusal(written, path);
    times.push(tookMs);
    // The clocks are compared best where the answer came soonest.
    if (tookMs < best.tookMs) best = { tookMs, aheadMs: written.mtime - (Date.now() - tookMs / 2) };
  }
  return {
    commits: commitTimesOf(times),
    serverClockAheadMs: Math.round(best.aheadMs),
  };
}

/** Asks for the shortest session and for the longest, and is told the bounds. @returns undefined where one was of no use */
async function boundsOf(connection: LockDoctorOptions): Promise<EnsembleMeasures['sessionBoundsMs']> {
  const granted = async (sessionTimeoutMs: number): Promise<number> => {
    await using locks = await createLockService({ ...connection, sessionTimeoutMs, serverTickMs: 1 });
    return locks[sessionAccess]().session.identity!.timeoutMs;
  };
  try {
    const [least, most] = await Promise.all([granted(1), granted(LONGEST_TIMEOUT_MS)]);
    return { least, most };
  } catch (error) {
    if (error instanceof LockError) return undefined;
    throw error;
  }
}
