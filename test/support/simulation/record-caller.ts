import type { AcquireOptions } from '../../../lib/lock/acquire-options.js';
import type { LockHandle } from '../../../lib/lock/handle.js';
import type { SeededRandom } from '../../../lib/session/simulator/time/random.js';
import type { AppProcess } from './app-process.js';
import type { Caller } from './caller.js';
import type { Grant } from './grants.js';
import { RecordCall } from './record-calls.js';
import { drawWish, optionsOf } from './record-draws.js';
import { chance } from './scenario.js';
import type { Schedule } from './schedule.js';

/** What a caller does with the records of its keys, where its schedule uses them. */
export class RecordCaller {
  /** What is drawn from it leaves schedules without records as they are. */
  readonly #random: SeededRandom;
  readonly #schedule: Schedule;
  readonly #app: AppProcess;
  #calls = 0;

  constructor(private readonly caller: Caller) {
    this.#schedule = caller.schedule;
    this.#app = caller.app;
    this.#random = caller.schedule.random.fork(`${caller.app.name} ${caller.name} record`);
  }

  /** Draws what a call asks for. @returns undefined for one that asks for nothing */
  draw(options: AcquireOptions): { readonly options: AcquireOptions; readonly call: RecordCall } | undefined {
    const { record, lockDelayMs } = this.#schedule.scenario;
    const wish = record && drawWish(record, lockDelayMs, options.mode ?? 'exclusive', this.#random);
    if (wish === undefined) return undefined;
    this.#calls += 1;
    const call = new RecordCall(this.#app, `${this.#app.name} ${this.caller.name} ${this.#calls}`, wish);
    this.#schedule.records.called(call);
    return { call, options: { ...options, ...optionsOf(wish, call.label, (lock) => this.#recover(call, lock)) } };
  }

  /** Repairs for a while, under the lock; sometimes it cannot. */
  async #recover(call: RecordCall, lock: LockHandle): Promise<void> {
    const { judge, book } = this.#schedule;
    const recovery = call.recovery!;
    if (recovery.state !== 'not begun') judge.blame('recovered once', `${call.label} recovers again`);
    if (lock.abandoned === undefined) judge.blame('recovered once', `${call.label} recovers, and nobody has vanished`);
    recovery.state = 'runs';
    recovery.begin();
    const over = this.#schedule.begins(this.#app);
    try {
      const grant = this.caller.granted(lock.key, lock);
      if (chance(this.#random, 0.3)) await this.checkpoint(grant);
      await this.#app.sleep(this.#recoveryMs());
      if (!chance(this.#random, 0.4)) {
        recovery.state = 'ran';
        // Nobody is given a lock that was lost meanwhile, so the work under it ends here.
        if (!lock.isHeld()) book.over(grant);
      } else {
        recovery.state = 'failed';
        book.over(grant);
        throw recovery.error;
      }
    } finally {
      if (recovery.state !== 'failed' && !lock.isHeld()) this.#schedule.reached.add('a recovery lost its lock');
      recovery.end();
      over();
    }
  }

  /** Sometimes writes down how far its work is. */
  async work(grant: Grant): Promise<void> {
    if (chance(this.#random, 0.4)) await this.checkpoint(grant);
  }

  async checkpoint({ lock, token, mode }: Grant): Promise<void> {
    const call = this.#schedule.records.callOf(token);
    if (call === undefined || mode === 'read' || mode === 'upgradeable' || !lock.isHeld()) return;
    const checkpoint = call.nextCheckpoint(token);
    const what = `${call.label} checkpoint ${checkpoint.number}`;
    try {
      // Either it is written, or certainty ends.
      const boundMs = this.#schedule.scenario.sessionTimeoutMs;
      await this.#schedule.promises.within(this.#app, what, boundMs, lock.checkpoint(checkpoint));
      call.checkpointsOf(token).confirmed = checkpoint.number;
    } catch (error) {
      this.caller.expect(error, what, ['LOCK_LOST']);
    }
  }

  #recoveryMs(): number {
    const { sessionTimeoutMs } = this.#schedule.scenario;
    return (chance(this.#random, 0.6) ? 30 : sessionTimeoutMs * 1.3) * this.#random.next();
  }
}
