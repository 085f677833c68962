import type { SharedParts, EngineSettings } from '../../../../lib/engine/build-engine.js';
import { RECORD_KEEPER } from '../../../../lib/queue/reserved-names.js';
import { ZookeeperLockService } from '../../../../lib/engine/zookeeper-lock-service.js';
import type { LockError } from '../../../../lib/lock/errors.js';
import type { LockEvent } from '../../../../lib/lock/events.js';
import { SessionClient } from '../../../../lib/session/core/session-client.js';
import type { SessionSettings } from '../../../../lib/session/options.js';
import type { SimulatedProcess } from '../../../../lib/session/simulator/simulated-process.js';
import { SimulatedWorld, type WorldSettings } from '../../../support/simulation/simulated-world.js';

export const TICK_MS = 500;
export const SESSION_TIMEOUT_MS = 4_000;
const ANYONE = [{ permissions: 31, scheme: 'world', id: 'anyone' }];

/** One lock service in a process of its own. */
export interface Client {
  readonly process: SimulatedProcess;
  readonly session: SessionClient;
  readonly locks: ZookeeperLockService;
  readonly events: LockEvent[];
  /** Resolves after so much simulated time. */
  sleep(durationMs: number): Promise<void>;
}

export type ClientOptions = Partial<EngineSettings> & { readonly local?: 'never' | 'when unavailable' };

/** Lock services over a simulated ensemble, on its virtual clock. */
export class EngineWorld {
  readonly #settings: WorldSettings;
  #world: SimulatedWorld | undefined;
  #clients: Client[] = [];

  constructor(settings: WorldSettings = {}) {
    this.#settings = settings;
  }

  get world(): SimulatedWorld {
    return (this.#world ??= new SimulatedWorld({ tickMs: TICK_MS, ...this.#settings }));
  }

  /** Begins again with an ensemble that knows nothing, and without services: for the next test. */
  begin(): void {
    this.#world = undefined;
    this.#clients = [];
  }

  get faults(): SimulatedWorld['faults'] {
    return this.world.faults;
  }

  /** A lock service whose session is up. */
  async client(name: string, options: ClientOptions = {}, session: Partial<SessionSettings> = {}): Promise<Client> {
    const client = this.start(name, options, session);
    await this.world.runUntil(() => client.session.state === 'connected');
    return client;
  }

  /** A lock service that is still connecting. */
  start(
    name: string,
    { local = 'never', ...overrides }: ClientOptions = {},
    sessionSettings: Partial<SessionSettings> = {},
  ): Client {
    const process = this.world.process(name);
    const settings = engineSettings(process, overrides);
    const session = this.session(process, sessionSettings);
    const standIn = (shared: SharedParts): ZookeeperLockService => {
      const alone = this.world.process(`${name}, alone`);
      const localSettings = { ...settings, namespace: `/only ${name}`, scope: 'process' as const };
      return new ZookeeperLockService(this.session(alone), localSettings, undefined, shared);
    };
    const locks = new ZookeeperLockService(session, settings, local === 'never' ? undefined : standIn);
    const events: LockEvent[] = [];
    locks.events$.subscribe((event) => events.push(event));
    const client = { process, session, locks, events, sleep: (ms: number) => sleep(process, ms) };
    this.#clients.push(client);
    return client;
  }

  session(process: SimulatedProcess, overrides: Partial<SessionSettings> = {}): SessionClient {
    const settings = {
      servers: this.world.servers,
      chroot: '',
      sessionTimeoutMs: SESSION_TIMEOUT_MS,
      serverTickMs: TICK_MS,
      namespace: '',
      auth: [],
      acl: ANYONE,
      clock: process.clock,
      random: process.random,
      ...overrides,
    };
    return new SessionClient(settings, process.dialer(settings.acl));
  }

  runFor(durationMs: number): Promise<void> {
    return this.world.runFor(durationMs);
  }

  runUntil(condition: () => boolean, withinMs = 60_000): Promise<void> {
    return this.world.runUntil(condition, withinMs);
  }

  settle<T>(promise: Promise<T>, withinMs = 60_000): Promise<T> {
    return this.world.settle(promise, withinMs);
  }

  /** What the promise rejects with. */
  async failure(promise: Promise<unknown>, withinMs = 60_000): Promise<Failure> {
    return this.world.settle(rejection(promise), withinMs);
  }

  /** The nodes in a key's queue. */
  queue(key: string): string[] {
    return this.world
      .children(key)
      .filter((name) => name !== RECORD_KEEPER)
      .sort();
  }

  /** Closes every service; what it must leave behind is nothing. */
  async end(): Promise<void> {
    this.faults.heal();
    for (const { process, locks } of this.#clients) {
      this.faults.pass(process);
      this.faults.accept(process);
      await this.settle(locks.close(0));
    }
  }
}

/** Those of locks have details. */
export type Failure = Error & Partial<Pick<LockError, 'details'>>;

/** What the promise rejects with; it counts as handled from now on. */
export function rejection(promise: Promise<unknown>): Promise<Failure> {
  return promise.then(
    () => new Error('It did not fail.'),
    (error: unknown) => error as Error,
  );
}

export function engineSettings(process: SimulatedProcess, overrides: Partial<EngineSettings> = {}): EngineSettings {
  return {
    namespace: '',
    scope: 'fleet',
    waitMs: 15_000,
    maxWaiting: Infinity,
    connectTimeoutMs: 0,
    shutdownGraceMs: 1_000,
    onSuspended: 'continue',
    lockDelayMs: 0,
    randomUuid: () => uuid(process.random),
    random: process.random,
    ...overrides,
  };
}

export function uuid(random: () => number): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, hex.slice(16, 20), hex.slice(20)].join('-');
}

export function sleep(process: SimulatedProcess, durationMs: number): Promise<void> {
  return new Promise((resolve) => process.clock.setTimer(durationMs, resolve));
}

export function typesOf(events: readonly LockEvent[]): string[] {
  return events.map(({ type }) => type);
}
