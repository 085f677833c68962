import { SessionError, MAX_ANSWER_BYTES, TooLargeAnswerError } from '../errors.js';
import type { ListRequest, Reply, Stat, Watcher } from '../requests.js';
import { Call } from './call.js';

/** How many nodes are remembered. A node that was forgotten costs one more answer that is read past. */
const MAX_KNOWN = 1_000;

/**
 * How many lists of one node go out at once while its size is unknown. If they are too large, each is an answer that is
 * read past.
 */
const MAX_AT_ONCE = 2;

/**
 * Sends lists, and asks no second time for one that is too large. An answer that is read past has still been made by
 * the server, and has delayed every answer behind it. After the first such answer, and while lists of the node are
 * under way, the node's number of children is asked for first: that costs nothing, and its answer comes behind those of
 * the lists.
 */
export class CrowdedLists {
  /** The length of an answer that was too large, for each child of its node. */
  readonly #bytesPerChild = new Map<string, number>();
  /** How many lists of each node are under way. */
  readonly #underWay = new Map<string, number>();
  /** Lists with a watch that wait until the number of children is known. */
  readonly #waiting = new Set<Call>();

  /**
   * Sends the list, or first the question for the number of children. `send` sends over the connection that is up at
   * that time.
   */
  send(call: Call, request: ListRequest, send: (call: Call) => void): void {
    const { path } = request;
    const list = new Call(request, (outcome) => {
      this.#answered(path, outcome);
      call.settle(outcome);
    });
    const sendList = (): void => {
      this.#underWay.set(path, (this.#underWay.get(path) ?? 0) + 1);
      send(list);
    };
    if (!this.#bytesPerChild.has(path) && (this.#underWay.get(path) ?? 0) < MAX_AT_ONCE) return sendList();
    if (request.watch !== undefined) this.#waiting.add(list);
    const count = new Call({ op: 'exists', path }, (outcome) => {
      this.#waiting.delete(list);
      const refusal = outcome instanceof SessionError ? outcome : this.#refusal(path, outcome as Stat | undefined);
      if (refusal === undefined) sendList();
      else call.settle(refusal);
    });
    send(count);
  }

  /** The error for a list that would be too long; undefined for one that may be sent. */
  #refusal(path: string, stat: Stat | undefined): SessionError | undefined {
    const bytesPerChild = this.#bytesPerChild.get(path);
    if (bytesPerChild === undefined) return undefined;
    const bytes = (stat?.numChildren ?? 0) * bytesPerChild;
    if (bytes > MAX_ANSWER_BYTES) return new TooLargeAnswerError(path, stat?.numChildren, Math.round(bytes));
    // The node has become small enough, and is listed without this question from now on.
    this.#bytesPerChild.delete(path);
    return undefined;
  }

  /** Takes back the watch of a list that has not been sent yet. */
  unwatch(path: string, watcher: Watcher): void {
    for (const list of this.#waiting) if (list.path === path && list.watcher === watcher) list.unwatched = true;
  }

  #answered(path: string, outcome: Reply | SessionError): void {
    const others = (this.#underWay.get(path) ?? 1) - 1;
    if (others === 0) this.#underWay.delete(path);
    else this.#underWay.set(path, others);
    if (!(outcome instanceof TooLargeAnswerError)) return;
    // A delete before the insertion moves the node to the end, so that the oldest is the first to be forgotten.
    this.#bytesPerChild.delete(path);
    this.#bytesPerChild.set(path, outcome.bytes / Math.max(1, outcome.children ?? 1));
    for (const oldest of this.#bytesPerChild.keys()) {
      if (this.#bytesPerChild.size <= MAX_KNOWN) break;
      this.#bytesPerChild.delete(oldest);
    }
  }
}
