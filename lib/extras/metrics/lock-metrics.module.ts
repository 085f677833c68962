import { type DynamicModule, Inject, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { connectionNamed } from '../../nest/lock-service-token.js';
import { type LockMetricsOptions, recordLockMetrics } from './record-lock-metrics.js';

export interface LockMetricsModuleOptions extends LockMetricsOptions {
  /** The connections to measure, by the names that their modules were given. @default ['default'] */
  readonly connections?: readonly string[];
}

const OPTIONS = Symbol('LockMetricsModule options');

/**
 * Metrics of the locks of this process, in the Prometheus registry or the OpenTelemetry API that the application hands
 * in. Import it once, beside `DistributedLockModule`. Names, labels, a dashboard and alerts: docs/observability.md.
 */
@Module({})
export class LockMetricsModule implements OnModuleInit, OnApplicationShutdown {
  #stop: (() => void) | undefined;

  constructor(
    @Inject(ModuleRef) private readonly modules: ModuleRef,
    @Inject(OPTIONS) private readonly options: LockMetricsModuleOptions,
  ) {}

  /** `forRoot({ client })` or `forRoot({ client, registry })`, with `import * as client from '@prometheus-io/client'`. */
  static forRoot(options: LockMetricsModuleOptions): DynamicModule {
    return { module: LockMetricsModule, providers: [{ provide: OPTIONS, useFactory: () => options }] };
  }

  /** @throws LockConfigurationError where there is no connection of such a name, or nothing to record with */
  onModuleInit(): void {
    const { connections = ['default'], ...options } = this.options;
    const services = connections.map(
      (name) => [name, connectionNamed(this.modules, name, 'LockMetricsModule')] as const,
    );
    this.#stop = recordLockMetrics(Object.fromEntries(services), options);
  }

  onApplicationShutdown(): void {
    this.#stop?.();
  }
}
