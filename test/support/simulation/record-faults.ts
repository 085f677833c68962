import type { AppProcess } from './app-process.js';
import type { SeededRandom } from '../../../lib/session/simulator/time/random.js';
import { removeNode } from './faults.js';
import { chance } from './scenario.js';
import type { Schedule } from './schedule.js';

/** Time for an answer to be on its way, and not to have arrived. */
const INSTANT_MS = 0.05;
/** To the servers and back, and a little more. */
const A_WAY_MS = 10;

/** Trouble in the very instant in which somebody is being written down, or taken out of, a record: chance alone seldom finds it. */
export class RecordFaults {
  readonly #random: SeededRandom;
  #left: number;

  constructor(private readonly schedule: Schedule) {
    this.#random = schedule.random.fork('record faults');
    this.#left = schedule.scenario.record === undefined ? 0 : this.#random.integer(6);
  }

  /** Somebody removes a contender that is about to be written down, or writes to the record that it is about to change. */
  created(path: string): void {
    const { schedule } = this;
    if (!this.#strikes()) return;
    if (schedule.operator !== undefined && chance(this.#random, 0.5))
      schedule.after(A_WAY_MS * this.#random.next(), () => removeNode(schedule, path));
    else schedule.after(INSTANT_MS, () => void schedule.doctor?.touch(path.slice(0, path.lastIndexOf('/'))));
  }

  /** The servers have it, and the contender does not know. */
  writtenDown(sessionId: bigint): void {
    if (this.#strikes()) this.#strike(this.schedule.apps.find(({ session }) => session.identity?.id === sessionId));
  }

  /** The caller gives its lock back, and the servers do not know. */
  released(app: AppProcess): void {
    if (this.#strikes()) this.#strike(app);
  }

  #strikes(): boolean {
    if (this.#left === 0 || this.schedule.isQuiet || !chance(this.#random, 0.15)) return false;
    this.#left -= 1;
    return true;
  }

  #strike(app: AppProcess | undefined): void {
    const { schedule } = this;
    const { profile } = schedule.scenario;
    if (profile === 'calm' || profile === 'servers') return;
    schedule.after(INSTANT_MS, () => {
      if (app === undefined || !app.isRunning || app.isClosing || schedule.isQuiet) return;
      if (profile === 'processes' || (profile === 'everything' && chance(this.#random, 0.3))) {
        schedule.note(`${app.name} is killed at its record`);
        schedule.kill(app);
        schedule.forgetCallersOf(app);
      } else if (profile === 'administration') this.#expire(app);
      else this.#cut(app);
    });
  }

  #expire({ name, session: { identity } }: AppProcess): void {
    const { world, book } = this.schedule;
    if (identity === undefined || world.leaderId === undefined) return;
    this.schedule.note(`${name} loses its session at its record`);
    book.excuseSession(identity.id);
    world.faults.expire(identity.id);
  }

  /** Some links come back at once, others only when the session has ended. */
  #cut({ name, machine }: AppProcess): void {
    const { world, scenario } = this.schedule;
    this.schedule.note(`${name} is cut off at its record`);
    world.faults.suspend(machine);
    if (chance(this.#random, 0.5)) return;
    world.faults.refuse(machine);
    this.schedule.after(scenario.sessionTimeoutMs * 2 * this.#random.next(), () => world.faults.accept(machine));
  }
}
