import { getEventListeners } from 'node:events';
import type { AcquireOptions } from '../../../lib/lock/acquire-options.js';
import { LockAbandonedError } from '../../../lib/lock/errors.js';
import type { LockHandle, MultiLockHandle } from '../../../lib/lock/handle.js';
import { isUp } from '../../../lib/session/connection-state.js';
import type { SeededRandom } from '../../../lib/session/simulator/time/random.js';
import { type AppProcess, codeOf } from './app-process.js';
import type { Grant } from './grants.js';
import type { AskedCall } from './asked-call.js';
import { BoundedCaller, type Question } from './bounded-caller.js';
import { RecordCaller } from './record-caller.js';
import type { RecordCall, Recovery } from './record-calls.js';
import { chance, pick } from './scenario.js';
import type { Schedule } from './schedule.js';
import { withoutSurgery } from './surgery.js';

/** What may come of a request of a lock, whatever happens. */
const USUAL = ['LOCK_TIMEOUT', 'LOCK_UNAVAILABLE', 'LOCK_ABORTED', 'LOCK_CLOSED'];

export interface Wait {
  readonly options: AcquireOptions;
  readonly waitMs: number;
  /** undefined: it asks for nothing that is kept in the record of its key. */
  readonly call: RecordCall | undefined;
  /** undefined: nobody compares how many were ahead of it. */
  readonly asked: AskedCall | undefined;
  /** To be called when the wait is over. */
  readonly done: () => void;
}

/** One logical caller of a process: what all its ways to acquire a lock share. */
export class Caller {
  readonly random: SeededRandom;
  readonly #records: RecordCaller;
  readonly #bounds: BoundedCaller;
  isAborted = false;

  constructor(
    readonly schedule: Schedule,
    readonly app: AppProcess,
    readonly name: string,
  ) {
    this.random = schedule.random.fork(`${app.name} ${name}`);
    this.#records = new RecordCaller(this);
    this.#bounds = new BoundedCaller(this);
  }

  /**
   * Draws how long it would wait and whether it changes its mind meanwhile.
   * @param question where it asks for one lock, and does so at once
   */
  wait(plainOptions: AcquireOptions = {}, question?: Question): Wait {
    const recorded = question && this.#records.draw(plainOptions);
    const bounded = question && this.#bounds.ask(question, recorded?.options ?? plainOptions);
    const options = bounded?.options ?? recorded?.options ?? plainOptions;
    const [call, asked] = [recorded?.call, bounded?.asked];
    const { scenario, fullQueues } = this.schedule;
    const settled = (): void => void (asked && fullQueues.settled(asked));
    const { random, app } = this;
    const waitMs = chance(random, 0.3) ? 20 + 200 * random.next() : scenario.sessionTimeoutMs * 4 * random.next();
    this.isAborted = false;
    if (!chance(random, 0.2)) return { options: { ...options, waitMs }, waitMs, call, asked, done: settled };
    const controller = new AbortController();
    const { signal } = controller;
    const timer = app.machine.clock.setTimer(waitMs * random.next() ** 2, () => {
      this.isAborted = true;
      controller.abort(new Error('changed its mind'));
    });
    const done = (): void => {
      settled();
      timer.cancel();
      const left = getEventListeners(signal, 'abort').length;
      if (left > 0)
        this.schedule.judge.blame('no litter', `${this.name}: ${left} listeners left on the caller's AbortSignal`);
    };
    return { options: { ...options, waitMs, signal }, waitMs, call, asked, done };
  }

  /** To be called before it asks for several locks at once. @returns to be called when it has given all of them back */
  asksSeveral(keys: readonly string[]): () => void {
    const { schedule } = this;
    return schedule.fullQueues.asksSeveral(
      this.app,
      keys.map((key) => schedule.queuePath(key)),
    );
  }

  /** Waits for a lock and takes down who got it; undefined: it was not to be had, for an honest reason. */
  async take(
    key: string,
    what: string,
    wait: Wait,
    ask: (options: AcquireOptions) => Promise<LockHandle | undefined>,
  ): Promise<Grant | undefined> {
    const text = `${this.name} ${what} ${key}`;
    try {
      const lock = await this.#settled(text, wait, ask(wait.options));
      if (lock === undefined) this.#wasBusy(key);
      return lock === undefined ? undefined : this.granted(key, lock);
    } catch (error) {
      this.expect(error, text, USUAL, wait);
      this.expectLink(error, text);
      return undefined;
    } finally {
      wait.done();
    }
  }

  /** The wait has its bound, its own recover function has none, and what follows upon that has one again. */
  #settled<T>(text: string, { waitMs, call }: Wait, asked: Promise<T>): Promise<T> {
    const recovery = call?.recovery;
    if (recovery === undefined) return this.schedule.promises.within(this.app, text, waitMs, asked);
    return this.#recovered(text, waitMs, asked, recovery);
  }

  async #recovered<T>(text: string, waitMs: number, asked: Promise<T>, recovery: Recovery): Promise<T> {
    const { promises, scenario } = this.schedule;
    await promises.within(this.app, text, waitMs, Promise.race([asked, recovery.begun]));
    await Promise.race([asked, recovery.ended]);
    return promises.within(this.app, `${text}, after its recovery`, scenario.sessionTimeoutMs, asked);
  }

  granted(key: string, lock: LockHandle, multi?: MultiLockHandle): Grant {
    this.schedule.note(`${this.app.name} ${this.name} holds ${lock.nodePath} token ${lock.fencingToken.toString(16)}`);
    const { records } = this.schedule;
    records.granted(lock.fencingToken, lock.abandoned);
    const asksForDelay = (records.callOf(lock.fencingToken)?.wish.policy ?? 'delay') === 'delay';
    const ways = { readsSignal: chance(this.random, 0.7), isCurious: chance(this.random, 0.5), asksForDelay };
    const grant = this.schedule.book.granted(this.app, this.name, key, lock, ways, multi);
    this.schedule.fullQueues.granted(grant);
    return grant;
  }

  /** Works under a lock for a while: writes, asks, and sometimes does not stop when it is told to. */
  async work(...grants: Grant[]): Promise<void> {
    const { scenario, store, book } = this.schedule;
    const { random, app } = this;
    const heeds = chance(random, 0.7);
    const totalMs = this.holdMs(scenario.sessionTimeoutMs);
    const steps = 1 + random.integer(3);
    for (let step = 0; step < steps; step += 1) {
      await app.sleep(totalMs / steps);
      for (const grant of grants) {
        if (scenario.record !== undefined) await this.#records.work(grant);
        if (heeds && !grant.isHeldNow()) return;
        if (chance(random, 0.1)) await this.whenSure(grant);
        // From the look to the store is a way, on which a process may stand still.
        const looked = grant.isHeldNow();
        if (chance(random, 0.3)) await app.sleep(2 * random.next());
        if ((looked || !heeds) && grant.mode !== 'read' && grant.mode !== 'upgradeable')
          store.write(grant, book.isExcused(grant.path));
      }
    }
  }

  async release(grant: Grant): Promise<void> {
    const { book, promises, scenario } = this.schedule;
    book.over(grant);
    // Nobody waits for the answer of servers to which there is no link.
    const boundMs = isUp(this.app.session.state) ? scenario.waitMs : 0;
    const text = `${this.name} release of ${grant.path}`;
    const released = promises.within(this.app, text, boundMs, grant.lock.release());
    if (chance(this.random, 0.6)) await released;
    else released.catch((error: unknown) => this.expect(error, 'release', []));
  }

  /** Only these errors are honest here. */
  expect(error: unknown, what: string, codes: readonly string[], wait?: Wait): void {
    const code = codeOf(error);
    const { judge, scenario } = this.schedule;
    this.schedule.note(`${this.app.name} ${what}: ${code}`);
    if (this.app.isKilled) return;
    const told = this.schedule.surgeon === undefined ? code : withoutSurgery(code);
    const isKnown =
      codes.includes(told) || this.#isOfRecord(error, what, wait?.call) || this.#isOfBound(code, wait?.asked);
    if (!isKnown)
      judge.blame(
        'honest errors',
        `${this.app.name} ${what}: ${code} ${error instanceof Error ? (error.stack ?? '') : ''}`,
      );
    if (code === 'LOCK_ABORTED' && !this.isAborted) judge.blame('honest errors', `${what}: aborted by nobody`);
    if (code === 'LOCK_CLOSED' && !this.app.isClosing) judge.blame('honest errors', `${what}: nobody closes it`);
    if (code === 'LOCK_UNAVAILABLE' && scenario.profile === 'calm')
      judge.blame('honest errors', `${what}: unavailable, and nothing had happened`);
  }

  #wasBusy(key: string): void {
    const { book, recordTruth, reached } = this.schedule;
    const queue = book.truth.queue(this.schedule.queuePath(key));
    const isAlone = queue.every(({ sessionId }) => sessionId === this.app.session.identity?.id);
    if (isAlone && recordTruth.isBusyAfterwards(key)) reached.add('a try was kept out by the window');
  }

  #isOfBound(code: string, asked: AskedCall | undefined): boolean {
    if (code !== 'LOCK_QUEUE_FULL' || asked === undefined) return false;
    this.schedule.fullQueues.refused(asked);
    return true;
  }

  /** What the record of a key, or the recovery of what was left there, adds to the errors that a call may have. */
  #isOfRecord(error: unknown, what: string, call: RecordCall | undefined): boolean {
    if (error instanceof LockAbandonedError && error.abandoned !== undefined) {
      this.schedule.records.refused(call, error.abandoned, `${this.app.name} ${what}`);
      if (error.key !== undefined) this.schedule.doctor?.called(error.key);
      return this.schedule.scenario.record !== undefined;
    }
    const { recovery } = call ?? {};
    const isLost = withoutSurgery(codeOf(error)) === 'LOCK_LOST';
    if (recovery?.state === 'failed') return error === recovery.error || isLost;
    return recovery !== undefined && recovery.state !== 'not begun' && isLost;
  }

  /** Busy is what a lock can be called only by somebody who has a link. */
  private expectLink(error: unknown, what: string): void {
    const { state } = this.app.session;
    if (codeOf(error) !== 'LOCK_TIMEOUT' || state === 'connected' || state === 'reconnected') return;
    this.schedule.judge.blame('honest errors', `${what}: called busy, and the link is ${state}`);
  }

  someKey(): string {
    return pick(this.random, this.schedule.scenario.keys);
  }

  async whenSure(grant: Grant): Promise<void> {
    const { promises, scenario } = this.schedule;
    if (!grant.isHeldNow() || grant.multi !== undefined) return;
    // Either life is proved, or certainty ends.
    const boundMs = scenario.sessionTimeoutMs;
    try {
      await promises.within(this.app, `${this.name} whenSure`, boundMs, grant.lock.whenSure());
    } catch (error) {
      this.expect(error, 'whenSure', ['LOCK_LOST', 'LOCK_CLOSED']);
    }
  }

  holdMs(sessionTimeoutMs: number): number {
    const dice = this.random.next();
    if (dice < 0.55) return 30 * this.random.next();
    return dice < 0.85 ? (sessionTimeoutMs / 2) * this.random.next() : 2.5 * sessionTimeoutMs * this.random.next();
  }
}
