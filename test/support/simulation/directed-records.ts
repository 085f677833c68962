import type { AbandonedPolicy } from '../../../lib/lock/abandoned.js';
import type { AcquireOptions } from '../../../lib/lock/acquire-options.js';
import { isUp } from '../../../lib/session/connection-state.js';
import { set } from '../../../lib/session/requests.js';
import type { AppProcess } from './app-process.js';
import { Caller, type Wait } from './caller.js';
import { RecordCall } from './record-calls.js';
import { optionsOf } from './record-draws.js';
import { CLEARED_BY } from './record-truth.js';
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

/**
 * An operator clears a record that a contender has just read. The contender's entry is refused for that, and it gives up before it
 * knows: what it found must not come back.
 */
export async function givesUpWhileAnOperatorClears(schedule: Schedule): Promise<void> {
  const { apps, world, book, scenario } = schedule;
  const [first, next, operator] = apps as [AppProcess, AppProcess, AppProcess];
  const { traffic } = world.ensemble;
  const forever = new Promise<never>(() => undefined);
  new Asking(schedule, first, 'enter').use('acquire', forever);
  await schedule.runFor(SETTLED_MS);
  const { identity } = first.session;
  book.excuseSession(identity!.id);
  world.faults.expire(identity!.id);
  schedule.forgetCallersOf(first);
  await schedule.runUntil(() => first.session.identity !== identity && isUp(first.session.state));
  const cleared = Buffer.from(JSON.stringify({ [CLEARED_BY]: 'an operator' }));
  const clearing = set(KEY, cleared, world.stat(KEY)!.version);
  const givesUp = new AbortController();
  const gets = traffic.requests('get');
  const asking = new Asking(schedule, next, 'enter');
  asking.use('acquire', Promise.resolve(), givesUp.signal);
  await schedule.runUntil(() => traffic.requests('get') > gets);
  void operator.session.batch([clearing]);
  await schedule.runFor(scenario.seed * 0.1);
  schedule.after(0, () => givesUp.abort());
  await schedule.runUntil(() => schedule.areCallersDone);
  await schedule.runFor(SETTLED_MS);
  asking.use('acquire', Promise.resolve());
}

/**
 * Servers that cannot commit for a while have a contender's entry, and its link goes. Where it comes back, nothing is to be seen of
 * that entry, so it writes another one, which is refused in favour of the first.
 */
export async function writesItsNameTwice(schedule: Schedule): Promise<void> {
  await writeUnseen(schedule, () => undefined);
}

/** The same, and it gives up before it has looked again: what is not to be seen of its entry comes into the record later. */
export async function givesUpWhileItsNameIsNotShown(schedule: Schedule): Promise<void> {
  const givesUp = new AbortController();
  await writeUnseen(schedule, () => givesUp.abort(), givesUp.signal);
}

async function writeUnseen(schedule: Schedule, onCut: () => void, signal?: AbortSignal): Promise<void> {
  const { apps, world, scenario } = schedule;
  const [first, next] = apps as [AppProcess, AppProcess];
  const { traffic } = world.ensemble;
  const multis = traffic.requests('multi');
  const asking = new Asking(schedule, first, 'hold');
  asking.use('acquire', first.sleep(SETTLED_MS), signal);
  await schedule.runUntil(() => traffic.requests('multi') > multis);
  world.faults.holdCommits();
  await schedule.runFor(scenario.seed * 0.1);
  world.faults.suspend(first.machine);
  schedule.after(0, onCut);
  await schedule.runFor(SETTLED_MS * (1 + (scenario.seed % 5)));
  world.faults.releaseCommits();
  await schedule.runUntil(() => schedule.areCallersDone);
  await schedule.runFor(SETTLED_MS);
  new Asking(schedule, next, 'hold').use('acquire', Promise.resolve());
}
