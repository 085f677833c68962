import { LockDoctor } from '../../../lib/extras/doctor/lock-doctor.js';
import type { Request } from '../../../lib/session/requests.js';
import type { SeededRandom } from '../../../lib/session/simulator/time/random.js';
import { AppProcess, codeOf } from './app-process.js';
import { chance, pick } from './scenario.js';
import type { Schedule } from './schedule.js';

const WHO = { by: 'surgeon', reason: 'of the schedule' };
/** Errors that are honest where its own link, or session, goes away in the middle. */
const OUT_OF_TOUCH = ['LOCK_UNAVAILABLE', 'LOCK_CLOSED'];

/** Somebody who breaks locks and drains queues now and then, by the lock doctor, over a session of its own. */
export class Surgeon {
  isAtWork = false;
  readonly #schedule: Schedule;
  readonly #random: SeededRandom;
  readonly #app: AppProcess;
  readonly #doctor: LockDoctor;

  constructor(schedule: Schedule, random: SeededRandom) {
    this.#schedule = schedule;
    this.#random = random;
    this.#app = new AppProcess(schedule.world, schedule.scenario, 'surgeon', { onSuspended: 'continue' });
    const { session } = this.#app;
    const batch = session.batch.bind(session);
    session.batch = ((requests: readonly Request[]) => {
      for (const path of schedule.book.surgery.sends(requests)) schedule.book.excusePath(path);
      return batch(requests);
    }) as typeof session.batch;
    this.#doctor = new LockDoctor(this.#app.service);
  }

  get isReady(): boolean {
    return this.#app.session.state === 'connected';
  }

  /** Plans what it does, at random instants. */
  plan(): void {
    const { scenario } = this.#schedule;
    const steps = 1 + this.#random.integer(4);
    for (let count = 0; count < steps; count += 1) {
      const act = chance(this.#random, 0.7) ? () => this.#break() : () => this.#drain();
      this.#schedule.after(scenario.activeMs * this.#random.next(), () => {
        // One at a time: what it removes must be told from what others do.
        if (this.#schedule.isQuiet || this.isAtWork) return;
        this.isAtWork = true;
        void act().finally(() => (this.isAtWork = false));
      });
    }
  }

  async close(): Promise<void> {
    await this.#doctor.close();
  }

  async #break(): Promise<void> {
    const { book, scenario } = this.#schedule;
    // Of some the lock is over already: then nothing may be done to anybody.
    const grants = book.recent;
    if (grants.length === 0) return;
    const { key, token, path, mode } = pick(this.#random, grants);
    const graceMs = scenario.sessionTimeoutMs * 2 * this.#random.next();
    this.#schedule.note(`surgeon breaks ${path} (${mode}) within ${graceMs.toFixed(0)}`);
    book.surgery.begins({ kind: 'break', token });
    this.#schedule.tap.observedKeys.add(this.#schedule.queuePath(key));
    try {
      const { ended } = await this.#doctor.break(key, { token, graceMs, ...WHO });
      this.#schedule.note(`surgeon: ${ended}`);
    } catch (error) {
      this.#expect(error, ['STALE_FENCING_TOKEN', ...OUT_OF_TOUCH]);
    } finally {
      book.surgery.ends();
    }
  }

  async #drain(): Promise<void> {
    const { book, scenario, tap } = this.#schedule;
    const key = pick(this.#random, scenario.keys);
    const graceMs = scenario.sessionTimeoutMs * (0.1 + this.#random.next());
    this.#schedule.note(`surgeon drains ${key} within ${graceMs.toFixed(0)}`);
    book.surgery.begins({ kind: 'drain', queuePath: this.#schedule.queuePath(key) });
    // A waiter that was removed goes on listening until it looks again.
    tap.observedKeys.add(this.#schedule.queuePath(key));
    try {
      const { removed } = await this.#doctor.drain(key, { graceMs, ...WHO });
      this.#schedule.note(`surgeon: drained ${removed}`);
    } catch (error) {
      // The marker of its own earlier session may still be there, and stands for somebody else who drains.
      this.#expect(error, ['LOCK_CONFIGURATION', ...OUT_OF_TOUCH]);
    } finally {
      book.surgery.ends();
    }
  }

  #expect(error: unknown, codes: readonly string[]): void {
    const code = codeOf(error);
    this.#schedule.note(`surgeon: ${code}`);
    const text = error instanceof Error ? (error.stack ?? '') : '';
    if (!codes.includes(code)) this.#schedule.judge.blame('honest errors', `surgeon: ${code} ${text}`);
  }
}
