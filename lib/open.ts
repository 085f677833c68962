import { randomUUID } from 'node:crypto';
import { Subscription } from 'rxjs';
import type { EngineSettings } from './engine/context.js';
import type { LockService } from './engine/lock-service.js';
import { ZookeeperLockService } from './engine/zookeeper-lock-service.js';
import { type Clock, restingClock, systemClock } from './lock/clock.js';
import { LockUnavailableError } from './lock/errors.js';
import { outsideCalls } from './lock/outside-calls.js';
import type { DistributedLockOptions, ResolvedOptions } from './options.js';
import { resolveOptions } from './resolve-options.js';
import { parseConnectString } from './session/connect-string.js';
import { isUp } from './session/connection-state.js';
import { DialerOnDemand } from './session/core/dialer-on-demand.js';
import { SessionClient } from './session/core/session-client.js';
import type { Server } from './session/core/link.js';
import type { SessionSettings } from './session/options.js';
import { SocketDialer } from './session/wire/socket-dialer.js';

/** A lock service that is its maker's to close. */
export type ClosableLockService = LockService &
  AsyncDisposable & {
    /**
     * Gives holders `graceMs` to finish, takes the locks of those that do not, and ends the session.
     * @default the option `shutdownGraceMs`
     */
    close(graceMs?: number): Promise<void>;
  };

/**
 * A lock service without Nest: for scripts, workers and tests. Close it when done (`await using`, or `close()`).
 * @throws LockConfigurationError for options that make no sense, LockUnavailableError when no ZooKeeper answers in time
 */
export async function createLockService(options: DistributedLockOptions): Promise<ClosableLockService> {
  const resolved = resolveOptions(options);
  const { service, session } = openLockService(resolved);
  if (resolved.startup === 'lazy') return service;
  try {
    await whenUp(session, resolved.connectTimeoutMs);
  } catch (error) {
    if (resolved.whenUnavailable === 'local' && error instanceof LockUnavailableError) return service;
    await service.close(0);
    throw error;
  }
  return service;
}

/** Starts a lock service; it connects in the background, and is no part of the call that needed it first. */
export function openLockService(options: ResolvedOptions): { service: ZookeeperLockService; session: SessionClient } {
  return outsideCalls(() => buildLockService(options));
}

function buildLockService(options: ResolvedOptions): ReturnType<typeof openLockService> {
  const session = openSession(options);
  const settings: EngineSettings = {
    scope: 'fleet',
    namespace: options.namespace,
    waitMs: options.waitMs,
    connectTimeoutMs: options.connectTimeoutMs,
    shutdownGraceMs: options.shutdownGraceMs,
    onSuspended: options.onSuspended,
    lockDelayMs: options.lockDelayMs,
    randomUuid: randomUUID,
    random: Math.random,
  };
  if (options.whenUnavailable === 'reject') return { session, service: new ZookeeperLockService(session, settings) };
  const service = new ZookeeperLockService(session, settings, (shared) => {
    return new ZookeeperLockService(openSessionAlone(), { ...settings, scope: 'process' }, undefined, shared);
  });
  return { session, service };
}

/** Starts a session; it connects in the background. The only place that knows which kinds of session there are. */
export function openSession(options: ResolvedOptions): SessionClient {
  return outsideCalls(() => buildSession(options));
}

function buildSession(options: ResolvedOptions): SessionClient {
  const target = parseConnectString(options.connect);
  if (target.kind === 'ensemble') {
    const settings = sessionSettings(options, target.chroot, systemClock);
    const dialer = new SocketDialer({ tls: options.tls, acl: settings.acl, random: settings.random });
    return new SessionClient({ ...settings, servers: target.servers }, dialer);
  }
  return openEmbedded(
    sessionSettings(options, target.chroot, restingClock),
    loadSimulator().then(({ embeddedEnsemble }) => embeddedEnsemble(target.name)),
  );
}

/** The ensemble in memory is a fifth of the package's code: only who uses it loads it. */
const loadSimulator = () => import('./session/simulator/embedded.js');
type EmbeddedEnsemble = InstanceType<Awaited<ReturnType<typeof loadSimulator>>['EmbeddedEnsemble']>;
/** As the ensemble in memory calls the one server that it has. */
const IN_MEMORY: readonly Server[] = [{ host: 'simulated-1', port: 2181 }];

/** A session over an ensemble of its own, which nobody else can name and which is gone when the session is closed. */
function openSessionAlone(): SessionClient {
  const making = loadSimulator().then(({ EmbeddedEnsemble }) => new EmbeddedEnsemble());
  const options = resolveOptions({ connect: 'memory:', memory: { allowInProduction: true } });
  const session = openEmbedded(sessionSettings(options, '', restingClock), making);
  // The session's own log of attempts says why nothing could be loaded.
  const stop = () => void making.then((ensemble) => ensemble.stop()).catch(() => undefined);
  session.state$.subscribe({ complete: stop });
  return session;
}

function openEmbedded(settings: Omit<SessionSettings, 'servers'>, ensemble: Promise<EmbeddedEnsemble>): SessionClient {
  const dialer = new DialerOnDemand(ensemble.then((made) => made.dialer(settings.acl)));
  return new SessionClient({ ...settings, servers: IN_MEMORY }, dialer);
}

function sessionSettings(options: ResolvedOptions, chroot: string, clock: Clock): Omit<SessionSettings, 'servers'> {
  return {
    chroot,
    sessionTimeoutMs: options.sessionTimeoutMs,
    serverTickMs: options.serverTickMs,
    namespace: options.namespace,
    auth: options.auth,
    acl: options.acl,
    clock,
    random: Math.random,
  };
}

/** Resolves when the session is up; rejects, and leaves the session as it is, when it is not within the time. */
export function whenUp(session: SessionClient, withinMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const subscription = new Subscription();
    const timer = systemClock.setTimer(withinMs, () => {
      subscription.unsubscribe();
      const failures = session.describeFailures() || 'No server was reached';
      reject(new LockUnavailableError(`No ZooKeeper session within ${withinMs} ms. ${failures}`));
    });
    subscription.add(() => timer.cancel());
    subscription.add(
      session.state$.subscribe({
        next: (state) => {
          if (!isUp(state)) return;
          resolve();
          subscription.unsubscribe();
        },
        complete: () => {
          reject(session.failure ?? new LockUnavailableError('The session was closed before it was up'));
          subscription.unsubscribe();
        },
      }),
    );
  });
}
