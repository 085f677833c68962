import { channel, tracingChannel } from 'node:diagnostics_channel';
import type { LockService } from '../../engine/lock-service.js';
import { type AcquireMessage, type HoldMessage, LOCK_CHANNELS } from '../../lock/channels.js';
import { LOSS_REASONS, type LossReason } from '../../lock/events.js';
import type { HeldLockFacts, PendingLockFacts, ProcessLocks } from '../../lock/process-locks.js';
import type { ConnectionState } from '../../session/connection-state.js';
import { INSTRUMENTS, type Labels, type Meter, type Sample } from './instruments.js';
import type { Later } from './later.js';
import { Templates } from './templates.js';

const STATES = ['connecting', 'connected', 'suspended', 'reconnected', 'lost', 'closed'] as const;
STATES satisfies readonly ConnectionState[];

/** The lock services that are measured, by the names of their connections. */
export type Connections = Readonly<Record<string, Pick<LockService, 'query' | 'connectionState'>>>;

/**
 * Measures the locks of some connections of this process: what passes by the channels, and what is so when it is asked.
 * @returns how to stop
 */
export function measure(connections: Connections, meters: readonly Meter[], later: Later): () => void {
  const templates = new Templates();
  for (const meter of meters) meter.beforeRead = () => later.flush();
  const names = Object.keys(connections);
  const ofKey = ({ connection, template }: { connection: string; template: string | undefined }): Labels => ({
    connection,
    template: templates.labelOf(template),
  });
  const parts = meters.map((meter) => ({ meter, losses: new Losses(meter) }));
  const enqueues = meters.map((meter) => enqueueRecorder(meter, ofKey));
  const acquires = parts.map(({ meter, losses }) => acquireRecorder(meter, ofKey, losses));
  const holds = parts.map(({ meter, losses }) => holdRecorder(meter, ofKey, losses));
  const looks = new Looks(connections);
  for (const meter of meters) {
    observeLocks(looks, meter, ofKey);
    observeConnections(connections, looks, meter);
  }
  // A meter may refuse an instrument: nothing is listened to before it has them all.
  const stops = [
    onEnqueue(names, enqueues, later),
    onEnd<AcquireMessage>(LOCK_CHANNELS.acquire, names, acquires, later),
    onEnd<HoldMessage>(LOCK_CHANNELS.hold, names, holds, later),
  ];
  return () => {
    for (const stop of stops) stop();
    later.flush();
    for (const meter of meters) meter.stop();
  };
}

type LabelsOfKey = (of: { readonly connection: string; readonly template: string | undefined }) => Labels;

/** The outcome of a call as a label: `acquired`, `busy`, or what it failed with, such as `timeout`. */
export function outcomeOf({ outcome, code }: AcquireMessage): string {
  if (outcome !== 'failed') return outcome!;
  return code === undefined ? 'error' : code.replace(/^LOCK_/, '').toLowerCase();
}

/** Counts losses. From the first call for a template on, a server sees each reason, with 0: so the first loss is an increase. */
class Losses {
  readonly #count: (labels: Labels, by: 0 | 1) => void;
  readonly #known = new Set<string>();

  constructor(meter: Meter) {
    this.#count = meter.counter(INSTRUMENTS.losses);
  }

  knows(labels: Labels): void {
    const id = `${labels['connection']} ${labels['template']}`;
    if (this.#known.has(id)) return;
    this.#known.add(id);
    for (const reason of LOSS_REASONS) this.#count({ ...labels, reason }, 0);
  }

  lost(labels: Labels, reason: LossReason): void {
    this.#count({ ...labels, reason }, 1);
  }
}

function acquireRecorder(meter: Meter, ofKey: LabelsOfKey, losses: Losses): (message: AcquireMessage) => void {
  const acquire = meter.histogram(INSTRUMENTS.acquire);
  const handOver = meter.histogram(INSTRUMENTS.handOver);
  return (message) => {
    const labels = ofKey(message);
    const { waitedMs, handOverMs } = message;
    losses.knows(labels);
    acquire(waitedMs! / 1_000, { ...labels, outcome: outcomeOf(message) });
    if (handOverMs !== undefined) handOver(handOverMs / 1_000, labels);
  };
}

function holdRecorder(meter: Meter, ofKey: LabelsOfKey, losses: Losses): (message: HoldMessage) => void {
  const hold = meter.histogram(INSTRUMENTS.hold);
  return (message) => {
    const labels = ofKey(message);
    const { heldMs, outcome, reason } = message;
    hold(heldMs! / 1_000, { ...labels, outcome: outcome! });
    if (reason !== undefined) losses.lost(labels, reason);
  };
}

function enqueueRecorder(meter: Meter, ofKey: LabelsOfKey): (message: AcquireMessage, ahead: number) => void {
  const queue = meter.histogram(INSTRUMENTS.ahead);
  return (message, ahead) => queue(ahead, ofKey(message));
}

/** Records how many are ahead of a call. */
function onEnqueue(
  connections: readonly string[],
  records: readonly ((message: AcquireMessage, ahead: number) => void)[],
  later: Later,
): () => void {
  const listener = (message: unknown): void => {
    // The number is taken now: the same call may join again, and the message has the newest one.
    const { connection, ahead } = message as AcquireMessage;
    if (!connections.includes(connection)) return;
    later.add(() => {
      for (const each of records) later.try(() => each(message as AcquireMessage, ahead!));
    });
  };
  // The call is recorded when it joins and not when it ends: a queue that hangs is seen while it hangs.
  const enqueues = channel(LOCK_CHANNELS.enqueue);
  enqueues.subscribe(listener);
  return () => enqueues.unsubscribe(listener);
}

function onEnd<Message extends { readonly connection: string }>(
  channel: string,
  connections: readonly string[],
  records: readonly ((message: Message) => void)[],
  later: Later,
): () => void {
  // Where one client refuses a value, the other one takes it all the same.
  const record = (message: Message): void => {
    for (const each of records) later.try(() => each(message));
  };
  const listener = (message: unknown): void => {
    if (connections.includes((message as Message).connection)) later.add(() => record(message as Message));
  };
  const { asyncEnd } = tracingChannel(channel);
  asyncEnd.subscribe(listener);
  return () => asyncEnd.unsubscribe(listener);
}

/** A look at the locks of each connection. Gauges are read one after the other in one go: they share a look, so that they agree. */
class Looks {
  readonly #connections: Connections;
  #taken: readonly (readonly [string, ProcessLocks])[] | undefined;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  take(): readonly (readonly [string, ProcessLocks])[] {
    if (this.#taken === undefined) {
      this.#taken = Object.entries(this.#connections).map(([connection, locks]) => [connection, locks.query()]);
      queueMicrotask(() => (this.#taken = undefined));
    }
    return this.#taken;
  }
}

function observeLocks(looks: Looks, meter: Meter, ofKey: LabelsOfKey): void {
  const held = (value: (one: HeldLockFacts) => number, join: Join) => () =>
    byTemplate(looks, ofKey, { factsOf: (locks) => locks.held, value, join });
  const pending = (value: (one: PendingLockFacts) => number, join: Join) => () =>
    byTemplate(looks, ofKey, { factsOf: (locks) => locks.pending, value, join });
  meter.gauge(
    INSTRUMENTS.held,
    held(() => 1, add),
  );
  meter.gauge(
    INSTRUMENTS.waiting,
    pending(() => 1, add),
  );
  meter.gauge(
    INSTRUMENTS.oldestHold,
    held(({ heldMs }) => heldMs / 1_000, Math.max),
  );
  meter.gauge(
    INSTRUMENTS.longestQueue,
    pending(({ ahead = 0 }) => ahead, Math.max),
  );
}

type Join = (one: number, other: number) => number;

const add: Join = (one, other) => one + other;

/** What is measured of the locks of a process: a number for each, and one number for all of a template. */
interface Measured<Facts> {
  readonly factsOf: (locks: ProcessLocks) => readonly Facts[];
  readonly value: (facts: Facts) => number;
  readonly join: Join;
}

function byTemplate<Facts extends { readonly template: string | undefined }>(
  looks: Looks,
  ofKey: LabelsOfKey,
  { factsOf, value, join }: Measured<Facts>,
): readonly Sample[] {
  const samples = new Map<string, Sample>();
  for (const [connection, locks] of looks.take()) {
    for (const facts of factsOf(locks)) {
      const labels = ofKey({ connection, template: facts.template });
      const id = `${connection} ${labels['template']}`;
      const before = samples.get(id)?.value;
      samples.set(id, { labels, value: before === undefined ? value(facts) : join(before, value(facts)) });
    }
  }
  return [...samples.values()];
}

function observeConnections(connections: Connections, looks: Looks, meter: Meter): void {
  meter.gauge(INSTRUMENTS.removals, () =>
    looks.take().map(([connection, { removals }]) => ({ labels: { connection }, value: removals })),
  );
  meter.gauge(INSTRUMENTS.state, () =>
    Object.entries(connections).flatMap(([connection, { connectionState }]) =>
      STATES.map((state) => ({ labels: { connection, state }, value: state === connectionState ? 1 : 0 })),
    ),
  );
  meter.gauge(INSTRUMENTS.certainty, () =>
    looks.take().flatMap(([connection, { held, certainMs }]) =>
      // Without a lock nobody needs certainty, and nothing renews it.
      held.length === 0 ? [] : [{ labels: { connection }, value: certainMs / 1_000 }],
    ),
  );
}
