import type { AppProcess } from './app-process.js';
import { type AskedCall, countAhead, type Counted } from './asked-call.js';
import type { Grant } from './grants.js';
import type { Judge } from './judge.js';
import { QueueSight } from './queue-sight.js';
import type { RareState } from './rare-states.js';
import type { Entry, Truth } from './truth.js';

/**
 * `maxWaiting`: who may be refused, and who may join. What a call has seen in the instant in which it was judged nobody knows from
 * outside. So it is compared with all that it may have seen since it asked, and with what it must have seen.
 */
export class FullQueues {
  readonly #asked = new Set<AskedCall>();
  readonly #byLabel = new Map<string, AskedCall>();
  readonly #byPath = new Map<string, AskedCall>();
  readonly #apps = new Map<string, AppProcess>();
  readonly #sights = new Map<AskedCall, QueueSight>();
  readonly #several = new Set<{ readonly app: AppProcess; readonly queuePaths: readonly string[] }>();

  constructor(
    private readonly truth: Truth,
    private readonly judge: Judge,
    private readonly appOf: (sessionId: bigint) => AppProcess | undefined,
    private readonly labelOf: (token: bigint) => string | undefined,
    private readonly reached: (state: RareState) => void,
  ) {}

  /** A call for one lock begins. */
  asks(call: AskedCall): void {
    const { app, queuePath } = call;
    for (const other of [...this.#asked]) if (!other.isUnderWay) this.#asked.delete(other);
    for (const [other, { neighbours }] of this.#sights) if (isBeside(other, app, queuePath)) neighbours.add(call);
    if (call.maxWaiting !== undefined) {
      const earlier = [...this.#asked].filter((other) => isBeside(other, app, queuePath));
      const several = [...this.#several].filter((one) => one.app === app && one.queuePaths.includes(queuePath)).length;
      this.#sights.set(call, new QueueSight(this.truth.queue(queuePath), earlier, several));
    }
    this.#asked.add(call);
    this.#byLabel.set(call.label, call);
  }

  /** A call for several locks begins, whose contenders cannot be told apart. @returns to be called when it is over */
  asksSeveral(app: AppProcess, queuePaths: readonly string[]): () => void {
    const one = { app, queuePaths };
    this.#several.add(one);
    for (const [call, sight] of this.#sights)
      if (queuePaths.some((queuePath) => isBeside(call, app, queuePath))) sight.several += 1;
    return () => void this.#several.delete(one);
  }

  granted(grant: Grant): void {
    const call = this.#byPath.get(grant.path);
    // Those that re-enter share it, and come later.
    if (call !== undefined) call.grant ??= grant;
  }

  settled(call: AskedCall): void {
    call.isSettled = true;
    this.#sights.delete(call);
  }

  /** The servers have carried out a transaction, which has removed these. */
  committed(removed: readonly Entry[]): void {
    for (const { path } of removed) {
      const call = this.#byPath.get(path);
      if (call?.keepsItsPlace === false) call.hasLeft = true;
    }
    for (const [call, sight] of this.#sights)
      if (call.nodes.length === 0) sight.changed(this.truth.queue(call.queuePath));
  }

  /** The servers have made a node. */
  created(path: string): void {
    const entry = this.truth.entry(path);
    if (entry === undefined) return;
    const { czxid, sessionId, queuePath } = entry;
    const app = this.appOf(sessionId);
    if (app !== undefined) this.#apps.set(path, app);
    const call = this.#byLabel.get(this.labelOf(czxid) ?? '');
    if (call === undefined) return;
    this.#byPath.set(path, call);
    if (call.isRefused) this.#blame(`${call.name} was refused, and ${path} was made for it afterwards`);
    const sight = this.#sights.get(call);
    if (sight !== undefined && call.nodes.length === 0) this.#checkJoined(call, call.maxWaiting!, sight);
    // A call that has waited is not refused where it queues again.
    else if (countAhead(this.truth.queue(queuePath), call.mode) > (call.maxWaiting ?? Infinity) + 1)
      this.reached('a call queued again behind more than it allows');
    call.nodes.push(entry);
  }

  /** A call was refused because the queue is full. */
  refused(call: AskedCall): void {
    const { maxWaiting, name, nodes, app } = call;
    const sight = this.#sights.get(call);
    call.isRefused = true;
    if (maxWaiting === undefined || sight === undefined) return this.#blame(`${name} was refused, and has no bound`);
    if (nodes.length > 0) this.#blame(`${name} was refused, and ${nodes[0]!.path} had been made for it`);
    const most = sight.most(call);
    if (most <= maxWaiting) this.#blame(`${name} was refused, and at most ${most} were ahead of it since it asked`);
    this.reached('a full queue refused a call');
    if (sight.several === 0 && sight.mostListed(call) <= maxWaiting)
      this.reached('a call was refused for neighbours that had no nodes');
    if (!sight.mayHaveUnlisted && [...sight.entries].every(({ path }) => this.#apps.get(path) !== app))
      this.reached('a call was refused for contenders of others alone');
  }

  #checkJoined({ name, app, mode }: AskedCall, maxWaiting: number, sight: QueueSight): void {
    const stayed = sight.before.filter(
      (entry) => this.truth.entry(entry.path) === entry && !this.#mayHaveLeft(entry, app),
    );
    const before = stayed.filter((entry) => !hasLostItsUpgrader(entry, sight.before, stayed));
    const earlier = sight.earlier.flatMap((call): readonly Counted[] => {
      // Readers that were still to come may have stood in another order when they were counted.
      if (call.maxWaiting === undefined || call.mode === 'read' || call.mode === 'upgradeable') return [];
      const node = call.keepsItsPlace ? call.nodes.at(-1) : undefined;
      return node === undefined || before.includes(node) || this.truth.entry(node.path) !== node ? [] : [node];
    });
    const ahead = [...before, ...earlier];
    const least = countAhead(ahead, mode);
    if (least > maxWaiting) this.#blame(`${name} joined behind ${least} that had come before it`);
    if (least > 0 && least === maxWaiting) this.reached('a call joined behind as many as it allows');
    if (least <= maxWaiting && countAhead(ahead, 'exclusive') > maxWaiting)
      this.reached('a reader joined where a writer would have been refused');
  }

  /** Whether somebody of this process may have given back what it had there, or given up. */
  #mayHaveLeft({ path }: Entry, app: AppProcess): boolean {
    if (this.#apps.get(path) !== app) return false;
    return app.isClosing || this.#byPath.get(path)?.keepsItsPlace !== true;
  }

  #blame(text: string): void {
    this.judge.blame('a full queue', text);
  }
}

/**
 * Whether this is the intent of an upgrader that has left since. When both were there they were one contender, further ahead; only now the
 * intent is one that waits.
 */
function hasLostItsUpgrader({ id }: Entry, before: readonly Entry[], stayed: readonly Entry[]): boolean {
  const isUpgrader = (other: Entry): boolean => other.mode === 'upgradeable' && other.id === id;
  return before.some(isUpgrader) && !stayed.some(isUpgrader);
}

function isBeside(call: AskedCall, app: AppProcess, queuePath: string): boolean {
  return call.app === app && call.queuePath === queuePath;
}
