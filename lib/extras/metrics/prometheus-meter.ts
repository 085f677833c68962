import { LockConfigurationError } from '../../lock/errors.js';
import type { Instrument, Labels, Meter, Sample } from './instruments.js';

/**
 * What is used of a Prometheus client. `@prometheus-io/client` and `prom-client` have it. The application hands its own
 * in: each copy of a client has a registry of its own, and only the application knows which one it serves.
 */
export interface PrometheusClient {
  readonly Histogram: new (options: PrometheusOptions & { buckets: number[] }) => {
    observe(labels: Record<string, string>, value: number): void;
  };
  readonly Counter: new (options: PrometheusOptions) => { inc(labels: Record<string, string>, value: number): void };
  readonly Gauge: new (options: PrometheusOptions) => PrometheusGauge;
  /** Where metrics go without a `registry`. */
  readonly register: PrometheusRegistry;
}

interface PrometheusGauge {
  reset(): void;
  set(labels: Record<string, string>, value: number): void;
}

export interface PrometheusRegistry {
  getSingleMetric(name: string): unknown;
  removeSingleMetric(name: string): void;
}

interface PrometheusOptions {
  name: string;
  help: string;
  labelNames: string[];
  // The type of a registry is that of the client, which is the application's.
  registers: never[];
  collect: () => void;
}

/** Metrics in the registry of a Prometheus client, named as Prometheus would have them: base units, `_total`. */
export class PrometheusMeter implements Meter {
  readonly #client: PrometheusClient;
  readonly #registry: PrometheusRegistry;
  readonly #names: string[] = [];
  beforeRead: () => void = () => undefined;

  constructor(client: PrometheusClient, registry: PrometheusRegistry = client.register) {
    this.#client = client;
    this.#registry = registry;
  }

  histogram(instrument: Instrument): (value: number, labels: Labels) => void {
    const buckets = [...(instrument.bounds ?? [])];
    const histogram = new this.#client.Histogram({ ...this.#optionsOf(instrument), buckets });
    return (value, labels) => histogram.observe(labels, value);
  }

  counter(instrument: Instrument): (labels: Labels, by: 0 | 1) => void {
    const counter = new this.#client.Counter(this.#optionsOf(instrument));
    return (labels, by) => counter.inc(labels, by);
  }

  gauge(instrument: Instrument, observe: () => readonly Sample[]): void {
    const gauge: PrometheusGauge = new this.#client.Gauge({
      ...this.#optionsOf(instrument),
      collect: () => {
        // What is not there any more must not be shown with its last value.
        gauge.reset();
        for (const { labels, value } of observe()) gauge.set(labels, value);
      },
    });
  }

  stop(): void {
    for (const name of this.#names.splice(0)) this.#registry.removeSingleMetric(name);
  }

  #optionsOf(instrument: Instrument): PrometheusOptions {
    const name = prometheusName(instrument);
    if (this.#registry.getSingleMetric(name) !== undefined) {
      throw new LockConfigurationError(
        `The Prometheus registry has a metric ${name} already. Record locks once: one LockMetricsModule names all ` +
          'connections, as in { connections: [...] }; or hand in another { registry }',
      );
    }
    this.#names.push(name);
    return {
      name,
      help: instrument.help,
      labelNames: [...instrument.labels],
      registers: [this.#registry as never],
      collect: () => this.beforeRead(),
    };
  }
}

/** `acquire.duration` in seconds is `zk_lock_acquire_duration_seconds`. */
function prometheusName({ kind, name, unit }: Instrument): string {
  const parts = ['zk_lock', name.replaceAll('.', '_')];
  if (unit === 's') parts.push('seconds');
  if (kind === 'counter') parts.push('total');
  return parts.join('_');
}
