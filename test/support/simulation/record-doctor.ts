import type { SessionClient } from '../../../lib/session/core/session-client.js';
import { SessionError } from '../../../lib/session/errors.js';
import { get, list, set } from '../../../lib/session/requests.js';
import type { SeededRandom } from '../../../lib/session/simulator/time/random.js';
import { CLEARED_BY } from './record-truth.js';
import { chance } from './scenario.js';
import type { Schedule } from './schedule.js';

const AGAIN_AFTER_MS = 50;
const QUICK_MS = 10;

/** An operator who opens keys that are closed because of a holder that vanished, with a client of his own. */
export class RecordDoctor {
  readonly #pending = new Set<string>();
  readonly #random: SeededRandom;

  constructor(
    private readonly schedule: Schedule,
    private readonly client: SessionClient,
  ) {
    this.#random = schedule.random.fork('doctor');
  }

  /** Somebody was refused: it looks after that a little later. */
  called(key: string): void {
    const { schedule } = this;
    if (this.#pending.has(key) || schedule.isQuiet) return;
    this.#pending.add(key);
    // Some are so quick that they meet the next one at the record.
    const delayMs = (chance(this.#random, 0.5) ? QUICK_MS : schedule.scenario.sessionTimeoutMs) * this.#random.next();
    schedule.after(delayMs, () => {
      this.#pending.delete(key);
      void this.#clear(key);
    });
  }

  /** Opens whatever is closed, long after the last fault. */
  async clearAll(): Promise<void> {
    for (const key of this.schedule.scenario.keys) {
      let isDone = false;
      for (;;) {
        void this.#clear(key).then((done) => (isDone ||= done));
        await this.schedule.runFor(AGAIN_AFTER_MS);
        if (isDone || this.schedule.judge.violations.length > 0) break;
      }
    }
  }

  close(): Promise<void> {
    return this.client.close();
  }

  /** Writes once more what stands in the record, if nobody is inside. */
  async touch(path: string): Promise<void> {
    const [node, queue] = await this.client.batch([get(path), list(path)]);
    if (node instanceof SessionError || queue instanceof SessionError) return;
    const { inside } = readRecord(node.data);
    if (inside === undefined || !queue.children.includes(inside.name))
      await this.client.batch([set(path, node.data, node.stat.version)]);
  }

  /** @returns whether nobody who vanished stands in the record any more */
  async #clear(key: string): Promise<boolean> {
    const path = this.schedule.queuePath(key);
    const [node, queue] = await this.client.batch([get(path), list(path)]);
    if (node instanceof SessionError) return node.code === 'NO_NODE';
    if (queue instanceof SessionError) return false;
    const record = readRecord(node.data);
    const { inside } = record;
    // Who is named there and is not in the list has vanished, or has released its lock meanwhile: then this version is past.
    if (inside === undefined || queue.children.includes(inside.name)) return true;
    // The time that a run was to have goes on.
    const { busyMs, beganAt = node.stat.mtime } = inside;
    const lastRun = busyMs === undefined ? record.lastRun : { at: beganAt, busyMs };
    const data = Buffer.from(JSON.stringify({ lastRun, [CLEARED_BY]: 'the doctor' }));
    const [written] = await this.client.batch([set(path, data, node.stat.version)]);
    return !(written instanceof SessionError);
  }
}

interface Found {
  readonly inside?: { readonly name: string; readonly busyMs?: number; readonly beganAt?: number };
  readonly lastRun?: unknown;
}

function readRecord(data: Uint8Array): Found {
  return data.length === 0 ? {} : (JSON.parse(Buffer.from(data).toString()) as Found);
}
