import { LockConfigurationError } from '../../lock/errors.js';
import type { Meter } from './instruments.js';
import { Later } from './later.js';
import { type Connections, measure } from './measurements.js';
import { type OpenTelemetryApi, OpenTelemetryMeter } from './opentelemetry-meter.js';
import { traceLocks } from './opentelemetry-spans.js';
import { type PrometheusClient, PrometheusMeter, type PrometheusRegistry } from './prometheus-meter.js';

/** What the application measures with: one of the two, or both. */
export interface LockMetricsOptions {
  /** The Prometheus client of the application: `import * as client from '@prometheus-io/client'`, or `prom-client`. */
  readonly client?: PrometheusClient;
  /** The registry that the application serves. @default the client's own, `client.register` */
  readonly registry?: PrometheusRegistry;
  /** OpenTelemetry as the application has it: `import * as opentelemetry from '@opentelemetry/api'`. */
  readonly opentelemetry?: OpenTelemetryApi;
}

/**
 * Records the locks of some lock services, by the names of their connections; without Nest the name is 'default'.
 * @returns how to stop
 * @throws LockConfigurationError where there is nothing to record with, or the registry has metrics of these names already
 */
export function recordLockMetrics(connections: Connections, options: LockMetricsOptions): () => void {
  const { client, registry, opentelemetry } = options;
  if (client === undefined && opentelemetry === undefined) {
    throw new LockConfigurationError(
      "Metrics of locks need the application's Prometheus client or its OpenTelemetry: { client } with " +
        "`import * as client from '@prometheus-io/client'`, or { opentelemetry } with " +
        "`import * as opentelemetry from '@opentelemetry/api'`",
    );
  }
  const later = new Later();
  const meters: Meter[] = [];
  if (client !== undefined) meters.push(new PrometheusMeter(client, registry));
  if (opentelemetry !== undefined) meters.push(new OpenTelemetryMeter(opentelemetry));
  const stops = [measureOrUndo(connections, meters, later)];
  if (opentelemetry !== undefined) stops.push(traceLocks(Object.keys(connections), opentelemetry, later));
  return () => {
    for (const stop of stops) stop();
  };
}

/** Where a meter refuses an instrument, those that it has taken before are taken back: what failed can be tried anew. */
function measureOrUndo(connections: Connections, meters: readonly Meter[], later: Later): () => void {
  try {
    return measure(connections, meters, later);
  } catch (error) {
    for (const meter of meters) meter.stop();
    throw error;
  }
}
