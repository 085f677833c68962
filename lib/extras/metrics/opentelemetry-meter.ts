import type { Instrument, Labels, Meter, Sample } from './instruments.js';

/**
 * What is used of `@opentelemetry/api`, which the application hands in: several copies of it in one process do not know
 * of each other.
 */
export interface OpenTelemetryApi {
  readonly metrics: { getMeter(name: string): OpenTelemetryMeterApi };
  readonly trace: {
    getTracer(name: string): OpenTelemetryTracer;
    getSpanContext(context: never): OpenTelemetrySpanContext | undefined;
  };
  readonly context: { active(): unknown };
}

interface OpenTelemetryMeterApi {
  createHistogram(
    name: string,
    options: { description: string; unit: string; advice: { explicitBucketBoundaries: number[] } },
  ): { record(value: number, attributes: Record<string, string>): void };
  createCounter(
    name: string,
    options: InstrumentOptions,
  ): { add(value: number, attributes: Record<string, string>): void };
  createObservableGauge(name: string, options: InstrumentOptions): ObservableGauge;
}

interface InstrumentOptions {
  description: string;
  unit: string;
}

interface ObservableGauge {
  addCallback(callback: Observe): void;
  removeCallback(callback: Observe): void;
}

type Observe = (result: { observe(value: number, attributes: Record<string, string>): void }) => void;

interface OpenTelemetryTracer {
  startSpan(
    name: string,
    options: { startTime: number; attributes: Record<string, string>; links: OpenTelemetryLink[] },
    context: never,
  ): OpenTelemetrySpan;
}

export interface OpenTelemetrySpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

export interface OpenTelemetryLink {
  context: OpenTelemetrySpanContext & { isRemote?: boolean };
}

export interface OpenTelemetrySpan {
  setAttribute(name: string, value: string | number): unknown;
  setStatus(status: { code: number; message: string }): unknown;
  /** @param endTime milliseconds since 1970 */
  end(endTime: number): void;
  spanContext(): OpenTelemetrySpanContext;
}

export const SCOPE = 'nestjs-zookeeper-lock';

/** Metrics of OpenTelemetry, named as its conventions would have them: `zk_lock.acquire.duration` in `s`. */
export class OpenTelemetryMeter implements Meter {
  readonly #meter: OpenTelemetryMeterApi;
  readonly #stops: (() => void)[] = [];
  beforeRead: () => void = () => undefined;

  constructor({ metrics }: OpenTelemetryApi) {
    this.#meter = metrics.getMeter(SCOPE);
  }

  histogram({ name, unit, help, bounds = [] }: Instrument): (value: number, labels: Labels) => void {
    const advice = { explicitBucketBoundaries: [...bounds] };
    const histogram = this.#meter.createHistogram(nameOf(name), { description: help, unit, advice });
    return (value, labels) => histogram.record(value, attributesOf(labels));
  }

  counter({ name, unit, help }: Instrument): (labels: Labels, by: 0 | 1) => void {
    const counter = this.#meter.createCounter(nameOf(name), { description: help, unit });
    return (labels, by) => counter.add(by, attributesOf(labels));
  }

  gauge({ name, unit, help }: Instrument, observe: () => readonly Sample[]): void {
    const gauge = this.#meter.createObservableGauge(nameOf(name), { description: help, unit });
    const callback: Observe = (result) => {
      this.beforeRead();
      for (const { labels, value } of observe()) result.observe(value, attributesOf(labels));
    };
    gauge.addCallback(callback);
    this.#stops.push(() => gauge.removeCallback(callback));
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }
}

export function nameOf(name: string): string {
  return `zk_lock.${name}`;
}

function attributesOf(labels: Labels): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [nameOf(name), value]));
}
