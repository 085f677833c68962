import type { AsJson, JsonOf } from '../../lock/json.js';
import { breakingIn, type Intervention, withBreaking } from '../../queue/intervention.js';
import { failedWith, isAboutTheLink, SessionError } from '../../session/errors.js';
import { type PatientLink, refusal } from '../../session/patient-link.js';
import { get, multi, type NodeData, remove, set } from '../../session/requests.js';
import type { StepOptions } from './doctor-options.js';
import { type HolderNode, nodesOf } from './queue-look.js';

export interface BreakOptions extends StepOptions {
  /** The fencing token of the holder that is meant, as `inspect` shows it. With another holder's nothing is done. */
  readonly token: bigint;
  /**
   * The holder may take this long to put right what is half done, in milliseconds. Then its node is removed, and the next
   * enters, whatever the holder does. @default 10000
   */
  readonly graceMs?: number;
}

/**
 * - `in order`: the node went within the grace, because the work under the lock has ended (or the holder's session has)
 * - `removed by force`: the grace was over. A holder of this package learns that it holds no more, within a second; its token
 *   keeps its late writes out
 * - `was gone already`: the holder had left before it could be told
 */
export type BreakOutcome = 'in order' | 'removed by force' | 'was gone already';

export interface BreakFacts {
  readonly key: string;
  readonly token: bigint;
  /** The holder's node, as the servers know it. */
  readonly nodePath: string;
  readonly ended: BreakOutcome;
  /** From the look at the queue to the end of the node. */
  readonly tookMs: number;
}

/** Tells what became of a lock that was broken. `JSON.stringify` accepts it. */
export interface BreakResult extends BreakFacts, AsJson<JsonOf<BreakFacts>> {}

/** Breaks the lock of one holder: tells it, waits for its end, and removes its node when the grace is over. */
export class BrokenLock {
  readonly #link: PatientLink;
  readonly #queuePath: string;
  readonly #holder: HolderNode;

  constructor(link: PatientLink, queuePath: string, holder: HolderNode) {
    this.#link = link;
    this.#queuePath = queuePath;
    this.#holder = holder;
  }

  async end(breaking: Intervention, graceMs: number): Promise<BreakOutcome> {
    if (!(await this.#tell(breaking))) return 'was gone already';
    if (await this.#goesWithin(graceMs)) return 'in order';
    return this.#removeByForce();
  }

  /** Writes into the holder's node that its lock is broken. @returns whether the holder was told, or may have been */
  async #tell(breaking: Intervention): Promise<boolean> {
    const { path } = this.#holder;
    for (let mayBeTold = false; ;) {
      const found = await this.#read();
      if (found === undefined) return mayBeTold;
      // The answer to an earlier try was lost.
      const before = breakingIn(found.data);
      if (before !== undefined && before.by === breaking.by && before.at === breaking.at) return true;
      await this.#link.untilUp();
      const [written] = await this.#link.send(
        [set(path, withBreaking(found.data, breaking), found.stat.version)],
        'write',
      );
      if (!(written instanceof SessionError)) return true;
      this.#throwUnlessPassing(written);
      mayBeTold ||= written.outcomeUnknown;
    }
  }

  async #goesWithin(graceMs: number): Promise<boolean> {
    const { clock } = this.#link.session;
    const endsAt = clock.now() + graceMs;
    for (;;) {
      if ((await this.#read()) === undefined) return true;
      const leftMs = endsAt - clock.now();
      if (leftMs <= 0) return false;
      await this.#link.untilChanged(this.#holder.path, leftMs);
    }
  }

  async #removeByForce(): Promise<BreakOutcome> {
    const { path } = this.#holder;
    let mayBeRemoved = false;
    for (;;) {
      const own = await this.#read();
      if (own === undefined) return mayBeRemoved ? 'removed by force' : 'in order';
      const others = (await nodesOf(this.#link, this.#queuePath, path)).filter((one) => one !== path);
      const found = await this.#link.ask(
        others.map((one) => get(one)),
        'NO_NODE',
      );
      // The versions show that these are still the nodes that were seen.
      const removals = others.flatMap((one, index) => {
        const node = found[index];
        return node === undefined ? [] : [remove(one, node.stat.version)];
      });
      const parts = [...removals, remove(path, own.stat.version)];
      await this.#link.untilUp();
      const [removed] = await this.#link.send([multi(parts)], 'write');
      if (!(removed instanceof SessionError)) return 'removed by force';
      this.#throwUnlessPassing(removed);
      mayBeRemoved ||= removed.outcomeUnknown;
    }
  }

  /** The holder's node; undefined where it is gone. */
  async #read(): Promise<NodeData | undefined> {
    const found = await this.#link.read(this.#holder.path);
    // Numbers begin anew when the key's node is removed and made again: another contender may have this name by now.
    return found?.stat.czxid === this.#holder.czxid ? found : undefined;
  }

  /** Returns where another look shows more. */
  #throwUnlessPassing(error: SessionError): void {
    // The link went away, or somebody else has changed or removed a node meanwhile.
    const isPassing = isAboutTheLink(error) || failedWith(error, 'NO_NODE') || failedWith(error, 'BAD_VERSION');
    if (!isPassing || error.code === 'CLOSED') throw refusal(error, this.#holder.path);
  }
}
