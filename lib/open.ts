import { randomUUID } from 'node:crypto';
import { Subscription } from 'rxjs';
import type { EngineSettings } from './engine/build-engine.js';
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
import type { Dialer, Server } from './session/core/link.js';
import type { Authenticator } from './session/core/authentication.js';
import type { KerberosSettings } from './session/options.js';
import type { Acl } from './session/requests.js';
import { SocketDialer } from './session/wire/socket-dialer.js';

// Entry points that open lock services of their own get the options from here, too.
export { resolveOptions };

/** A lock service that its maker must close. */
export type ClosableLockService = LockService &
  AsyncDisposable & {
    /**
     * Gives holders `graceMs` to finish, ends the locks of those that have not finished, and ends the session.
     * @default the option `shutdownGraceMs`
     */
    close(graceMs?: number): Promise<void>;
  };

/**
 * Creates a lock service without Nest, for scripts, workers and tests. Close it when done (`await using`, or
 * `close()`).
 * @throws LockConfigurationError for options that make no sense, LockUnavailableError when no ZooKeeper answers in time
 */
export async function createLockService(options: DistributedLockOptions): Promise<ClosableLockService> {
  const resolved = resolveOptions(options);
  const { service, session } = openLockService(resolved);
  // A lazy service connects in the background, and its first calls wait for it.
  if (resolved.startup === 'lazy') return service;
  try {
    await whenUp(session, resolved.connectTimeoutMs);
  } catch (error) {
    // Locks of this process alone serve until ZooKeeper answers.
    if (resolved.whenUnavailable === 'local' && error instanceof LockUnavailableError) return service;
    // The start has failed, so no holder needs a grace.
    await service.close(0);
    throw error;
  }
  return service;
}

/**
 * The surroundings of a lock service: its servers, its clock, its random source. Usually they are the network and this
 * machine; the simulator and the testing entry bring their own.
 */
export interface Surroundings {
  readonly servers: readonly Server[];
  /** @param acl the access rights of creates that name none */
  readonly dialer: (acl: readonly Acl[]) => Dialer;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly randomUuid: () => string;
  /** @default this machine, and the number of this process */
  readonly machine?: { readonly host: string; readonly pid: number };
  /**
   * An ensemble that nobody else can reach, for locks of this process alone. `stop` is called when it is no longer
   * needed.
   */
  readonly alone: () => Surroundings & { stop(): void };
}

export interface OpenedLockService {
  readonly service: ZookeeperLockService;
  readonly session: SessionClient;
}

/**
 * Starts a lock service, which connects in the background. It runs in no call's async context, not even the first
 * caller's.
 *
 * @param connection what the channels call it
 */
export function openLockService(
  options: ResolvedOptions,
  around = surroundingsFor(options),
  connection?: string,
): OpenedLockService {
  return outsideCalls(() => {
    const session = openSession(options, around);
    const { random, randomUuid, machine } = around;
    const settings: EngineSettings = { ...options, connection, scope: 'fleet', random, randomUuid, machine };
    if (options.whenUnavailable === 'reject') return { session, service: new ZookeeperLockService(session, settings) };
    const service = new ZookeeperLockService(session, settings, (shared) => {
      return new ZookeeperLockService(openSessionAlone(around), { ...settings, scope: 'process' }, undefined, shared);
    });
    return { session, service };
  });
}

/**
 * Starts a session, which connects in the background. Only this function and its helpers know which kinds of session
 * there are.
 */
export function openSession(options: ResolvedOptions, around = surroundingsFor(options)): SessionClient {
  const { servers, dialer, clock, random } = around;
  const { chroot } = parseConnectString(options.connect);
  const { sessionTimeoutMs, serverTickMs, namespace, auth, acl } = options;
  const authenticator = options.kerberos === undefined ? undefined : kerberosOnDemand(options.kerberos);
  const settings = {
    servers,
    chroot,
    sessionTimeoutMs,
    serverTickMs,
    namespace,
    auth,
    authenticator,
    acl,
    isPlain: options.client === 'native',
    clock,
    random,
  };
  return outsideCalls(() => new SessionClient(settings, dialer(acl)));
}

/** The code for Kerberos is loaded where it is asked for, and with it the optional peer that it needs. */
function kerberosOnDemand(settings: KerberosSettings): Authenticator {
  let loading: Promise<Authenticator> | undefined;
  const load = async (): Promise<Authenticator> => {
    const { KerberosAuthenticator } = await import('./session/kerberos/kerberos-authenticator.js');
    return new KerberosAuthenticator(settings);
  };
  return { begin: async (server, signal) => (await (loading ??= load())).begin(server, signal) };
}

/** A session over an ensemble of its own, which ends when the session is closed. */
function openSessionAlone(around: Surroundings): SessionClient {
  const alone = around.alone();
  const options = resolveOptions({ connect: 'memory:', memory: { allowInProduction: true } });
  const session = openSession(options, alone);
  // The stream completes when the session is closed, and nobody needs its ensemble then.
  session.state$.subscribe({ complete: () => alone.stop() });
  return session;
}

function surroundingsFor({ connect, tls, client }: ResolvedOptions): Surroundings {
  const target = parseConnectString(connect);
  if (target.kind === 'memory') {
    return surroundingsInMemory(loadSimulator().then(({ embeddedEnsemble }) => embeddedEnsemble(target.name)));
  }
  return {
    ...ON_THIS_MACHINE,
    servers: target.servers,
    clock: systemClock,
    dialer: (acl) => {
      const sockets = new SocketDialer({ tls, acl, random: Math.random });
      if (client === 'wire') return sockets;
      return new DialerOnDemand(loadNative().then(({ NativeDialer }) => new NativeDialer(sockets)));
    },
  };
}

/** The code for the package that most applications do not have is loaded only where it is asked for. */
const loadNative = () => import('./session/native/native-dialer.js');

/** The ensemble in memory is a fifth of the package's code, so it is loaded only where it is used. */
const loadSimulator = () => import('./session/simulator/embedded.js');
type EmbeddedEnsemble = InstanceType<Awaited<ReturnType<typeof loadSimulator>>['EmbeddedEnsemble']>;
/** The name that the ensemble in memory gives its only server. It is known before the ensemble's code is loaded. */
const IN_MEMORY: readonly Server[] = [{ host: 'simulated-1', port: 2181 }];

/** @param loading the ensemble, which is there as soon as its code is loaded */
export function surroundingsInMemory(loading: Promise<EmbeddedEnsemble>): Surroundings {
  return {
    ...ON_THIS_MACHINE,
    servers: IN_MEMORY,
    clock: restingClock,
    dialer: (acl) => new DialerOnDemand(loading.then((ensemble) => ensemble.dialer(acl))),
  };
}

function aloneInMemory(): ReturnType<Surroundings['alone']> {
  const loading = loadSimulator().then(({ EmbeddedEnsemble }) => new EmbeddedEnsemble());
  // A failed load needs no report here: the session's list of failed attempts has it.
  const stop = (): void => void loading.then((ensemble) => ensemble.stop()).catch(() => undefined);
  return { ...surroundingsInMemory(loading), stop };
}

const ON_THIS_MACHINE: Pick<Surroundings, 'random' | 'randomUuid' | 'alone'> = {
  random: Math.random,
  randomUuid: randomUUID,
  alone: aloneInMemory,
};

/** Resolves when the session is up. It rejects when the time is over, and leaves the session as it is. */
export function whenUp(session: SessionClient, withinMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    // The state is replayed during `subscribe`, so the subscription must exist before that.
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
