/** One thing that is measured. Each back end makes a name of it by its own conventions. */
export interface Instrument {
  readonly kind: 'histogram' | 'counter' | 'gauge';
  readonly name: string;
  /** `s` for seconds; what is counted otherwise. */
  readonly unit: 's' | '{contender}' | '{lock}' | '{call}' | '{node}' | '1';
  readonly help: string;
  readonly labels: readonly string[];
  /** The upper bounds of a histogram's buckets. */
  readonly bounds?: readonly number[];
}

export type Labels = Readonly<Record<string, string>>;

/** A value of a gauge at this moment. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/** Where measurements go. */
export interface Meter {
  /** Is called before values are read. */
  beforeRead: () => void;
  histogram(instrument: Instrument): (value: number, labels: Labels) => void;
  /** `by` may be 0: what is counted is known then before the first one comes, so that the first one is an increase. */
  counter(instrument: Instrument): (labels: Labels, by: 0 | 1) => void;
  /** @param observe is called at each collection */
  gauge(instrument: Instrument, observe: () => readonly Sample[]): void;
  /** Nothing is collected any more. */
  stop(): void;
}

/** An uncontended lock takes a millisecond or two, and a wait at the default time-outs fifteen seconds. */
const WAITS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];
/** Holds may take minutes. */
const HOLDS = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600];
const QUEUES = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

const OF_KEY = ['connection', 'template'];

export const INSTRUMENTS = {
  acquire: {
    kind: 'histogram',
    name: 'acquire.duration',
    unit: 's',
    help: 'How long calls for a lock took, by their outcome',
    labels: [...OF_KEY, 'outcome'],
    bounds: WAITS,
  },
  handOver: {
    kind: 'histogram',
    name: 'handover.duration',
    unit: 's',
    help: 'Time from the news that the contender in front has gone to the own hold',
    labels: OF_KEY,
    bounds: WAITS,
  },
  ahead: {
    kind: 'histogram',
    name: 'queue.ahead',
    unit: '{contender}',
    help: 'How many contenders were ahead of a call when it joined the queue, recorded while it waits',
    labels: OF_KEY,
    bounds: QUEUES,
  },
  hold: {
    kind: 'histogram',
    name: 'hold.duration',
    unit: 's',
    help: 'How long locks were held, by how the hold ended',
    labels: [...OF_KEY, 'outcome'],
    bounds: HOLDS,
  },
  losses: {
    kind: 'counter',
    name: 'losses',
    unit: '{lock}',
    help: 'Locks that were lost, by the reason',
    labels: [...OF_KEY, 'reason'],
  },
  held: { kind: 'gauge', name: 'held', unit: '{lock}', help: 'Locks that this process holds', labels: OF_KEY },
  waiting: { kind: 'gauge', name: 'waiting', unit: '{call}', help: 'Calls that wait for a lock', labels: OF_KEY },
  oldestHold: { kind: 'gauge', name: 'hold.oldest', unit: 's', help: 'Age of the oldest hold', labels: OF_KEY },
  longestQueue: {
    kind: 'gauge',
    name: 'queue.longest',
    unit: '{contender}',
    help: 'How many contenders are ahead of the call of this process that has most ahead of it, as far as it knows',
    labels: OF_KEY,
  },
  removals: {
    kind: 'gauge',
    name: 'removals.unconfirmed',
    unit: '{node}',
    help: 'Nodes no longer needed, of which the servers have not confirmed that they are gone',
    labels: ['connection'],
  },
  state: {
    kind: 'gauge',
    name: 'connection.state',
    unit: '1',
    help: '1 for the state that the connection to ZooKeeper is in, 0 for the others',
    labels: ['connection', 'state'],
  },
  certainty: {
    kind: 'gauge',
    name: 'certainty.left',
    unit: 's',
    help: 'How long the session is certain to live if the servers are not heard of again, while a lock is held',
    labels: ['connection'],
  },
} as const satisfies Record<string, Instrument>;
