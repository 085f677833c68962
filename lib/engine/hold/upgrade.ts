import { LockConfigurationError } from '../../lock/errors.js';
import { outsideCalls } from '../../lock/outside-calls.js';
import { readersInside, readQueue } from '../../queue/decide.js';
import { encodeIntent } from '../../queue/intent-data.js';
import { namePrefix } from '../../queue/node-name.js';
import { isAboutTheLink, SessionError } from '../../session/errors.js';
import { create, get, type NodeData, set } from '../../session/requests.js';
import type { CallScope } from '../bounds/call-scope.js';
import { describeOther, describeOwn, refusal } from '../error-texts.js';
import { listQueue } from '../upkeep/key-nodes.js';
import { Latch, type Patience, type Wait } from '../wait.js';
import type { HoldParts } from './hold-parts.js';
import type { Hold } from './hold.js';

/** Upgrades of one hold take turns, because their intents share one name: they all stand for the same contender. */
export class UpgradeTurns {
  /** The waiting upgrades, in order. A chain of promises would keep each upgrade that gave up while the link is down. */
  readonly #waiting = new Set<() => void>();
  /** While the intent of a failed upgrade is being removed, nobody has the turn, and it is not free. */
  #turn: 'free' | 'taken' | 'being cleaned up' = 'free';

  /** Whether an upgrade is under way. One that has failed and only cleans up does not count. */
  get isUnderWay(): boolean {
    return this.#turn === 'taken' || this.#waiting.size > 0;
  }

  /** Waits for the turn. */
  async begin(wait: Wait): Promise<void> {
    if (wait.error !== undefined) throw wait.error;
    if (this.#turn === 'free') {
      this.#turn = 'taken';
      return;
    }
    let begin: () => void = () => undefined;
    const turn = new Promise<void>((resolve) => {
      begin = resolve;
      this.#waiting.add(begin);
    });
    try {
      await wait.guard(turn);
    } catch (error) {
      // The turn may have come in the same moment in which the wait was ended. Then the next one has it.
      if (!this.#waiting.delete(begin)) this.#pass();
      throw error;
    }
  }

  /** @param whenRemoved resolves when the servers have removed the intent of an upgrade that failed */
  end(whenRemoved?: Promise<void>): void {
    if (whenRemoved === undefined) return this.#pass();
    // The next upgrade looks for an intent by name, and would take the one that is being removed for its own.
    this.#turn = 'being cleaned up';
    void outsideCalls(() => whenRemoved.then(() => this.#pass()));
  }

  #pass(): void {
    const [next] = this.#waiting;
    this.#turn = next === undefined ? 'free' : 'taken';
    if (next === undefined) return;
    this.#waiting.delete(next);
    next();
  }
}

interface Intent {
  readonly path: string;
  readonly readers: readonly string[];
}

/**
 * Turns an upgradeable hold into a writing one. An intent at the end of the queue keeps newcomers out, and names the readers
 * that are inside, which the upgrade waits for. Readers between the two nodes that have not entered find that they are not
 * named, and wait.
 */
export class Upgrade {
  /** @param patience with 'tries' the upgrade fails where it would have to wait */
  constructor(
    private readonly parts: HoldParts,
    private readonly hold: Hold,
    private readonly scope: CallScope,
    private readonly patience: Patience,
  ) {}

  async run(): Promise<void> {
    const { hold, scope, parts } = this;
    if (hold.upgrades.isUnderWay || !parts.link.isUp) this.#mustWait();
    const stopListening = hold.onEnd((error) => scope.end(error()));
    try {
      await hold.upgrades.begin(scope);
      let removed: Promise<void> | undefined;
      let intent: Intent | undefined;
      try {
        // Another handle's upgrade may have had the turn before this one.
        if (hold.mode === 'write') return;
        do {
          // Of the next one nothing is known until it is placed.
          intent = undefined;
          intent = await this.#placeIntent();
        } while ((await this.#becomeWriter(intent)) === 'intent removed');
      } catch (error) {
        removed = this.#takeBack(intent);
        throw error;
      } finally {
        hold.upgrades.end(removed);
      }
    } finally {
      stopListening();
    }
  }

  /** Ends an upgrade that only tries. */
  #mustWait(): void {
    if (this.patience === 'waits') return;
    this.scope.standsBehind();
    throw this.scope.timeUp();
  }

  /** Waits until the readers that are inside have left, and makes the hold a writer's, unless somebody has removed the intent. */
  async #becomeWriter({ path, readers }: Intent): Promise<'writer' | 'intent removed'> {
    const { hold, scope } = this;
    const { rules } = this.parts;
    if (readers.length > 0) {
      this.#mustWait();
      if (!(await this.#nameReaders(path, readers))) return 'intent removed';
    }
    for (const name of readers) await this.#untilGone(`${hold.request.queuePath}/${name}`);
    // Readers in the other queue of this process (the fleet's or the local one) have no nodes here.
    const readerElsewhere = (): Hold | undefined => rules.inTheWay({ key: hold.request.key, mode: 'write' }, hold);
    do {
      for (let reader = readerElsewhere(); reader !== undefined; reader = readerElsewhere()) {
        this.#mustWait();
        await rules.whenEnded(reader, scope);
      }
      await rules.passAsWriter(hold, scope);
      // A reader of the other queue may have come in while the record was read.
    } while (readerElsewhere() !== undefined);
    // The last await has let other code run, which may have blocked the event loop.
    const lost = hold.lossError();
    if (lost !== undefined) throw lost;
    hold.upgraded(path);
    return 'writer';
  }

  /** Removes the intent of an upgrade that failed, and undoes what the upgrade wrote into the key's record. */
  #takeBack(intent: Intent | undefined): Promise<void> {
    const { janitor } = this.parts;
    const { request, contender } = this.hold;
    // Without an answer nobody knows whether the intent was created, so it is searched for by its name.
    if (intent === undefined) return janitor.sweep(request.queuePath, namePrefix('write', contender.id));
    // A search would take a round trip more, in which the intent would stand there as a writer that waits where the upgrader is gone.
    const removed = janitor.remove([intent.path], contender.record?.undo()).done;
    // A hold that is released meanwhile takes its name out of the record together with its node.
    return outsideCalls(() => removed.then(() => void (contender.record = undefined)));
  }

  /** Creates the intent, and reads the queue once the intent is in it. */
  async #placeIntent(): Promise<Intent> {
    const { hold, scope } = this;
    const { session, link, lists } = this.parts;
    const { queuePath, key } = hold.request;
    const prefix = namePrefix('write', hold.contender.id);
    for (;;) {
      await link.whenUp(scope);
      // An earlier round may have created the intent and lost the answer. The list shows the intent then.
      const seen = await scope.guard(lists.list(queuePath, prefix));
      if (seen instanceof SessionError) {
        if (isAboutTheLink(seen)) continue;
        if (seen.code === 'NO_NODE') hold.lose('removed');
        throw hold.lossError() ?? refusal(seen, key);
      }
      if (!seen.children.includes(hold.contender.name)) hold.lose('removed');
      const there = seen.children.find((name) => name.startsWith(prefix));
      if (there !== undefined) return this.#intentOf(there, seen.children);
      const requests = [create(`${queuePath}/${prefix}`, 'ephemeral-sequential'), listQueue(queuePath)] as const;
      const [created, listed] = await scope.guard(session.batch(requests));
      if (!(created instanceof SessionError) && !(listed instanceof SessionError)) {
        return this.#intentOf(created.path.slice(queuePath.length + 1), listed.children);
      }
      // Where the parent is missing, the upgradeable node is gone as well, and the next list shows that.
      if (created instanceof SessionError && !isAboutTheLink(created) && created.code !== 'NO_NODE')
        throw refusal(created, key);
    }
  }

  #intentOf(name: string, children: readonly string[]): Intent {
    const { queuePath, key } = this.hold.request;
    const foreign = readQueue(children).find(({ ours }) => !ours);
    if (foreign !== undefined) {
      const text = `Another kind of client queues on ${key} as ${foreign.name}, and knows nothing of upgrades: it could enter beside the writer`;
      throw new LockConfigurationError(text, key);
    }
    return { path: `${queuePath}/${name}`, readers: readersInside(children, name).map((reader) => reader.name) };
  }

  /** @returns whether the intent was there */
  async #nameReaders(path: string, readers: readonly string[]): Promise<boolean> {
    const { session, link } = this.parts;
    for (;;) {
      await link.whenUp(this.scope);
      const [written] = await this.scope.guard(session.batch([set(path, encodeIntent(readers))]));
      if (!(written instanceof SessionError)) return true;
      if (written.code === 'NO_NODE') return false;
      if (!isAboutTheLink(written)) throw refusal(written, this.hold.request.key);
    }
  }

  async #untilGone(path: string): Promise<void> {
    const { scope } = this;
    const { session, link } = this.parts;
    for (;;) {
      await link.whenUp(scope);
      const changed = new Latch();
      const watcher = { onWatchEvent: (): void => changed.open() };
      const stopListening = link.onChange('contenders', () => changed.open());
      try {
        const [found] = await scope.guard(session.batch([get(path, watcher)]));
        if (!(found instanceof SessionError)) {
          scope.standsBehind(() => this.#describeReader(path, found));
          await scope.guard(changed.opened());
        } else if (found.code === 'NO_NODE') return;
        else if (!isAboutTheLink(found)) throw refusal(found, this.hold.request.key);
      } finally {
        stopListening();
        session.unwatch(path, watcher);
      }
    }
  }

  #describeReader(path: string, node: NodeData): string {
    const own = this.parts.holders.all().find(({ contender }) => contender.path === path);
    return own === undefined ? describeOther(path, node) : describeOwn(own, this.hold.request.owner);
  }
}
