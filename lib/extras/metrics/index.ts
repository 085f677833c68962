export { LockMetricsModule, type LockMetricsModuleOptions } from './lock-metrics.module.js';
export type { OpenTelemetryApi } from './opentelemetry-meter.js';
export type { PrometheusClient, PrometheusRegistry } from './prometheus-meter.js';
export { type LockMetricsOptions, recordLockMetrics } from './record-lock-metrics.js';
