import { SessionError } from '../errors.js';
import type { ListRequest, Reply, Stat, Watcher } from '../requests.js';
import { MAX_ANSWER_BYTES, TooLargeAnswerError } from '../too-large-answer-error.js';
import { Call } from './call.js';

/** How many nodes are remembered; one that was forgotten costs another answer that is read past. */
const MAX_KNOWN = 1_000;

/** Of one node, in a row: more would be as many answers that are read past, where the first is too large. */
const MAX_AT_ONCE = 2;

interface Crowd {
  readonly bytesPerChild: number;
}

/**
 * Asks for lists, and twice for none that is too large: an answer that is read past has still been made by the server, and
 * has kept all behind it waiting. From the first one on, the node is asked how many children it has, which costs nothing.
 * So it is where lists of it are under way: behind their answers it is known whether they were too large.
 */
export class CrowdedLists {
  readonly #crowds = new Map<string, Crowd>();
  /** How many lists are under way, by node. */
  readonly #underWay = new Map<string, number>();
  /** Lists that wait for the number of children, of those that ask for a watch. */
  readonly #waiting = new Set<ListCall>();

  /** Sends the list, or the question that comes first. `send` sends a call over the connection that is up then. */
  send(call: Call, request: ListRequest, send: (call: Call) => void): void {
    const { path } = request;
    const list = new ListCall(call, (outcome) => this.#answered(path, outcome));
    const sendList = (): void => {
      this.#underWay.set(path, (this.#underWay.get(path) ?? 0) + 1);
      send(list);
    };
    if (!this.#crowds.has(path) && (this.#underWay.get(path) ?? 0) < MAX_AT_ONCE) return sendList();
    if (request.watch !== undefined) this.#waiting.add(list);
    const count = new ChildCountCall(path, (outcome) => {
      this.#waiting.delete(list);
      const refusal = outcome instanceof SessionError ? outcome : this.#refusal(path, outcome);
      if (refusal === undefined) sendList();
      else call.settle(refusal);
    });
    send(count);
  }

  /** Why a node with so many children is not listed; from now on it is, where there is no reason. */
  #refusal(path: string, stat: Stat | undefined): SessionError | undefined {
    const crowd = this.#crowds.get(path);
    if (crowd === undefined) return undefined;
    const bytes = (stat?.numChildren ?? 0) * crowd.bytesPerChild;
    if (bytes > MAX_ANSWER_BYTES) return new TooLargeAnswerError(path, stat?.numChildren, Math.round(bytes));
    this.#crowds.delete(path);
    return undefined;
  }

  /** Takes back the wish to watch of a list that has not been sent yet. */
  unwatch(path: string, watcher: Watcher): void {
    for (const list of this.#waiting) if (list.path === path && list.watcher === watcher) list.unwatched = true;
  }

  #answered(path: string, outcome: Reply | SessionError): void {
    const others = (this.#underWay.get(path) ?? 1) - 1;
    if (others === 0) this.#underWay.delete(path);
    else this.#underWay.set(path, others);
    if (!(outcome instanceof TooLargeAnswerError)) return;
    this.#crowds.delete(path);
    this.#crowds.set(path, { bytesPerChild: outcome.bytes / Math.max(1, outcome.children ?? 1) });
    for (const oldest of this.#crowds.keys()) {
      if (this.#crowds.size <= MAX_KNOWN) break;
      this.#crowds.delete(oldest);
    }
  }
}

/** A list on its way, in the place of the call that asked for it. */
class ListCall extends Call {
  readonly #call: Call;
  readonly #onAnswered: (outcome: Reply | SessionError) => void;

  constructor(call: Call, onAnswered: (outcome: Reply | SessionError) => void) {
    super(call.request);
    this.#call = call;
    this.#onAnswered = onAnswered;
  }

  settle(outcome: Reply | SessionError): void {
    this.#onAnswered(outcome);
    this.#call.settle(outcome);
  }
}

class ChildCountCall extends Call {
  readonly #onCounted: (outcome: Stat | undefined | SessionError) => void;

  constructor(path: string, onCounted: (outcome: Stat | undefined | SessionError) => void) {
    super({ op: 'exists', path });
    this.#onCounted = onCounted;
  }

  settle(outcome: Reply | SessionError): void {
    this.#onCounted(outcome as Stat | undefined | SessionError);
  }
}
