import { ofType, startNodeChild, type NodeChild } from '../process/node-child.js';
import type { WriterCommand, WriterSettings } from './writer-process.js';

/** What each store answered to a write. */
export type Outcomes = Readonly<Record<string, string>>;

export interface StaleWriters {
  /** Of the writes of the paused process after it was continued, round by round. */
  readonly staleWrites: Outcomes[];
  /** The entries that each store acknowledged to those who held the lock, in order. */
  readonly acknowledged: Map<string, string[]>;
  /** What stands in each store at the end. */
  readonly texts: Map<string, string[]>;
}

const COMMAND_WITHIN_MS = 30_000;

/** A writer in a process of its own. */
class Writer {
  constructor(readonly process: NodeChild) {}

  static async start(settings: WriterSettings): Promise<Writer> {
    const script = new URL('./writer-process.ts', import.meta.url);
    const child = await startNodeChild(script, { args: [JSON.stringify(settings)] });
    await child.next('ready', ofType('ready'), COMMAND_WITHIN_MS);
    return new Writer(child);
  }

  tell(command: WriterCommand): void {
    this.process.send(command);
  }

  async outcome({ type }: WriterCommand): Promise<Outcomes> {
    const done = await this.process.next(`done: ${type}`, ofType(`done: ${type}`), COMMAND_WITHIN_MS);
    return (done['result'] ?? {}) as Outcomes;
  }

  async obeys(command: WriterCommand): Promise<Outcomes> {
    this.tell(command);
    return this.outcome(command);
  }
}

/**
 * In each round one process takes all locks and writes, and is stopped. When its session has ended another one takes over
 * and writes; then the first goes on, and writes again with nothing but the token it had.
 */
export async function runStaleWriters(rounds: number, settings: WriterSettings): Promise<StaleWriters> {
  const paused = await Writer.start(settings);
  // The one that takes over need not lose anything.
  const successor = await Writer.start({ ...settings, sessionTimeoutMs: 5 * settings.sessionTimeoutMs });
  const acknowledged = new Map<string, string[]>();
  const note = (outcomes: Outcomes, entry: string): void => {
    for (const [store, outcome] of Object.entries(outcomes)) {
      const entries = acknowledged.get(store) ?? [];
      acknowledged.set(store, outcome === 'accepted' ? [...entries, entry] : entries);
    }
  };
  const staleWrites: Outcomes[] = [];
  try {
    for (let round = 1; round <= rounds; round += 1) {
      note(await paused.obeys({ type: 'take', entry: `first-${round}` }), `first-${round}`);
      await paused.process.pause();
      // Answered when the servers have ended the session of the one that stands still.
      note(await successor.obeys({ type: 'take', entry: `second-${round}` }), `second-${round}`);
      const again = { type: 'write again', entry: `stale-${round}` } as const;
      paused.tell(again);
      await paused.process.resume();
      staleWrites.push(await paused.outcome(again));
      note(await successor.obeys({ type: 'add', entry: `third-${round}` }), `third-${round}`);
      await successor.obeys({ type: 'release' });
    }
    const texts = Object.entries(await successor.obeys({ type: 'read' }));
    return {
      staleWrites,
      acknowledged,
      texts: new Map(texts.map(([store, text]) => [store, text.split('\n').slice(0, -1)])),
    };
  } finally {
    await Promise.all([paused.process.kill(), successor.process.kill()]);
  }
}
