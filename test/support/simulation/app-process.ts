import { LockError } from '../../../lib/lock/errors.js';
import { ZookeeperLockService } from '../../../lib/engine/zookeeper-lock-service.js';
import { SessionClient } from '../../../lib/session/core/session-client.js';
import type { SimulatedProcess } from '../../../lib/session/simulator/simulated-process.js';
import { SeededRandom } from '../../../lib/session/simulator/time/random.js';
import type { SimulatedWorld } from './simulated-world.js';
import { clientUnderTest } from './client-under-test.js';
import { CountingClock } from './counting-clock.js';
import { ObservedSession } from './observed-session.js';
import type { Scenario } from './scenario.js';

const ANYONE = [{ permissions: 31, scheme: 'world', id: 'anyone' }];

export interface AppOptions {
  readonly onSuspended: 'continue' | 'stop';
}

/** One application process of the fleet: a session, a lock service over it, and what the harness knows of both. */
export class AppProcess {
  readonly machine: SimulatedProcess;
  readonly sessionClock: CountingClock;
  readonly session: ObservedSession;
  readonly service: ZookeeperLockService;
  readonly client: SessionClient;
  readonly stopsOnSuspension: boolean;
  isKilled = false;
  isPaused = false;
  isClosing = false;
  lastResumedAtMs = -Infinity;
  /** How often the state of its link has changed. */
  linkChanges = 0;
  readonly #now: () => number;

  constructor(world: SimulatedWorld, scenario: Scenario, name: string, { onSuspended }: AppOptions) {
    this.machine = world.process(name);
    this.#now = () => world.now();
    this.stopsOnSuspension = onSuspended === 'stop';
    this.sessionClock = new CountingClock(this.machine.clock);
    const { namespace, sessionTimeoutMs, tickMs, waitMs, lockDelayMs } = scenario;
    this.client = new SessionClient(
      {
        namespace,
        sessionTimeoutMs,
        servers: world.servers,
        chroot: '',
        serverTickMs: tickMs,
        auth: [],
        acl: ANYONE,
        // A lock-delay is refused with that client.
        isPlain: clientUnderTest() === 'native' && lockDelayMs === 0,
        clock: this.sessionClock,
        random: this.machine.random,
      },
      this.machine.dialer(),
    );
    this.session = new ObservedSession(this.client, new CountingClock(this.machine.clock));
    const random = new SeededRandom(scenario.seed).fork(`engine of ${name}`);
    this.service = new ZookeeperLockService(this.session, {
      namespace,
      waitMs,
      maxWaiting: Infinity,
      connectTimeoutMs: 0,
      lockDelayMs,
      onSuspended,
      scope: 'fleet',
      shutdownGraceMs: sessionTimeoutMs / 2,
      randomUuid: () => uuid(random),
      random: () => random.next(),
      machine: { host: name, pid: 1 },
    });
  }

  get name(): string {
    return this.machine.name;
  }

  get isRunning(): boolean {
    return !this.isKilled && !this.isPaused;
  }

  /** Whether all its timers and messages have had their turn since it was last stopped. */
  get isAwake(): boolean {
    return this.isRunning && this.#now() > this.lastResumedAtMs;
  }

  pause(): void {
    if (!this.isRunning) return;
    this.isPaused = true;
    this.machine.pause();
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.lastResumedAtMs = this.#now();
    this.machine.resume();
  }

  kill(): void {
    this.isKilled = true;
    this.machine.kill();
  }

  sleep(durationMs: number): Promise<void> {
    return new Promise((resolve) => this.machine.clock.setTimer(durationMs, resolve));
  }
}

function uuid(random: SeededRandom): string {
  const hex = Array.from({ length: 4 }, () => random.word().toString(16).padStart(8, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** What an application can tell an error by. */
export function codeOf(error: unknown): string {
  if (error instanceof LockError) return error.code;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
