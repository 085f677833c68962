import type { AbandonedPolicy } from '../../../lib/lock/abandoned.js';
import type { AcquireOptions } from '../../../lib/lock/acquire-options.js';
import type { AppProcess } from './app-process.js';
import { Caller, type Wait } from './caller.js';
import { RecordCall } from './record-calls.js';
import { optionsOf } from './record-draws.js';
import type { Schedule } from './schedule.js';

const KEY = '/locks/a';
/** Everything that was sent has been answered. */
const SETTLED_MS = 100;
const ROUNDS = 20;

/** A caller whose calls ask for this when they find that somebody has vanished. */
class Asking {
  readonly #caller: Caller;
  #calls = 0;

  constructor(
    private readonly schedule: Schedule,
    private readonly app: AppProcess,
    private readonly policy: AbandonedPolicy,
  ) {
    this.#caller = new Caller(schedule, app, 'asking');
  }

  /** Acquires the lock, or tries to, holds it until `end`, and gives it back. */
  use(how: 'acquire' | 'tryAcquire', end: Promise<unknown>, signal?: AbortSignal): void {
    this.#calls += 1;
    const label = `${this.app.name} ${this.#calls}`;
    const call = new RecordCall(this.app, label, { policy: this.policy, atLeastMs: undefined });
    this.schedule.records.called(call);
    const { waitMs } = this.schedule.scenario;
    const wish = optionsOf(call.wish, label, () => undefined);
    const options: AcquireOptions = { waitMs, ...wish, ...(signal === undefined ? {} : { signal }) };
    const wait: Wait = { options, waitMs, call, asked: undefined, done: () => undefined };
    this.#caller.isAborted = signal !== undefined;
    this.schedule.call(this.app, async () => {
      const grant = await this.#caller.take(KEY, how, wait, (asked) => this.app.service[how](KEY, asked));
      await end;
      if (grant !== undefined) await this.#caller.release(grant);
    });
  }
}

/** A holder gives its lock back while another one tries: between its look at the record and that at the queue, in some rounds. */
export async function releasesWhileAnotherLooks(schedule: Schedule): Promise<void> {
  const [holder, other] = schedule.apps.map((app) => new Asking(schedule, app, 'hold')) as [Asking, Asking];
  for (let round = 0; round < ROUNDS; round += 1) {
    let release: () => void = () => undefined;
    holder.use('acquire', new Promise<void>((resolve) => (release = resolve)));
    await schedule.runFor(SETTLED_MS);
    other.use('tryAcquire', Promise.resolve());
    await schedule.runFor((round + (schedule.scenario.seed % 10) / 10) / 2);
    schedule.after(0, release);
    await schedule.runUntil(() => schedule.areCallersDone);
    await schedule.runFor(SETTLED_MS);
  }
}
