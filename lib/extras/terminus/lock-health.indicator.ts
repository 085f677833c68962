import { Inject, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { LockConfigurationError } from '../../lock/errors.js';
import { connectionNamed } from '../../nest/lock-service-token.js';
import { type ConnectionState, isUp } from '../../session/connection-state.js';

export interface LockHealthOptions {
  /** The connection to check, where there are several: the `name` that its module was given. @default 'default' */
  readonly name?: string;
}

/** Any key serves, because no request is sent for it. */
const ANY_KEY = '/health';

/**
 * Tells a readiness probe whether locks can be acquired: up while there is a session, down while the connection is
 * suspended or the session is lost. It asks no server, so it costs nothing. It does not suit a liveness probe: no
 * restart repairs a network.
 */
@Injectable()
export class LockHealthIndicator implements OnModuleInit {
  #terminus: Promise<HealthIndicatorService> | undefined;

  constructor(@Inject(ModuleRef) private readonly modules: ModuleRef) {}

  /** @throws LockConfigurationError where `@nestjs/terminus` is not installed */
  async onModuleInit(): Promise<void> {
    await this.#load();
  }

  /**
   * @param key the name of the answer in the health report
   * @throws LockConfigurationError where there is no connection of this name
   */
  async isHealthy<const Key extends string>(
    key: Key,
    { name = 'default' }: LockHealthOptions = {},
  ): Promise<HealthIndicatorResult<Key>> {
    const locks = connectionNamed(this.modules, name, 'LockHealthIndicator');
    const check = (await this.#load()).check(key);
    const state = locks.connectionState;
    const { sessionId } = locks;
    if (isUp(state)) return check.up({ state, ...(sessionId === undefined ? {} : { sessionId }) });
    // With `startup: 'lazy'` nothing has connected yet, and an instance that never becomes ready is never asked for a
    // lock. Asking for a watch connects.
    if (state === 'connecting') locks.watch(ANY_KEY);
    return check.down({ state, message: explain(state) });
  }

  #load(): Promise<HealthIndicatorService> {
    this.#terminus ??= loadTerminus();
    return this.#terminus;
  }
}

function explain(state: Exclude<ConnectionState, 'connected' | 'reconnected'>): string {
  switch (state) {
    case 'connecting':
      return 'There is no ZooKeeper session yet';
    case 'suspended':
      return 'The link to ZooKeeper is down; held locks are valid until their certainty ends, new ones cannot be acquired';
    case 'lost':
      return 'There is no ZooKeeper session, or it may have ended: its locks are lost. It is resumed, or a new one is opened, as soon as a server answers';
    case 'closed':
      return 'The connection to ZooKeeper was closed';
  }
}

/** Import this next to `TerminusModule`, in the module with the health controller. */
@Module({ providers: [LockHealthIndicator], exports: [LockHealthIndicator] })
export class LockHealthModule {}

/**
 * Loads Terminus when the application starts, and not with this file: a static import that fails ends the process
 * before an error could say what to install.
 *
 * @throws LockConfigurationError where the package is not installed
 */
export async function loadTerminus(
  load: () => Promise<{ readonly HealthIndicatorService: new () => HealthIndicatorService }> = () =>
    import('@nestjs/terminus'),
): Promise<HealthIndicatorService> {
  try {
    const terminus = await load();
    return new terminus.HealthIndicatorService();
  } catch (error) {
    throw new LockConfigurationError(
      'LockHealthIndicator (nestjs-zookeeper-lock/terminus) needs the package @nestjs/terminus, which could not be ' +
        `loaded. Install it: npm install @nestjs/terminus. (${error instanceof Error ? error.message : String(error)})`,
      undefined,
      { cause: error },
    );
  }
}
