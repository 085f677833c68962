import { answerWithinMs } from '../../lock/deadline.js';
import type { MultiPart } from '../../session/requests.js';
import { type Contender, type Leaving, OwnNode } from '../contender.js';
import type { HoldParts } from './hold-parts.js';

type NodeParts = Pick<HoldParts, 'session' | 'janitor' | 'timers' | 'link' | 'waitMs'>;

/** The nodes that a hold stands on: its contender and, once it was upgraded, the intent that keeps readers out. */
export class HoldNodes {
  readonly #parts: NodeParts;
  readonly #contender: Contender;
  readonly #onGone: () => void;
  #intent: OwnNode | undefined;

  /** @param onGone told when somebody has removed one of them */
  constructor(parts: NodeParts, contender: Contender, onGone: () => void) {
    this.#parts = parts;
    this.#contender = contender;
    this.#onGone = onGone;
    contender.node.onGone(onGone);
  }

  addIntent(path: string): void {
    this.#intent = new OwnNode(this.#parts.session, path);
    this.#intent.onGone(this.#onGone);
  }

  /** Has the servers tell when somebody removes one. Called again after a reconnect, it sets what is missing. */
  watch(): void {
    this.#contender.node.keepWatched();
    this.#intent?.keepWatched();
  }

  /**
   * `also` is done in the same transaction. Resolves when the servers have confirmed, or as soon as the link is down, and
   * within the module's `waitMs` (an answer's time where that is 0); the removal goes on for as long as it takes.
   */
  remove(leaving: Leaving, also: readonly MultiPart[]): Promise<void> {
    const { janitor, timers, link, waitMs } = this.#parts;
    const { path } = this.#contender;
    const paths = this.#intent === undefined ? [path] : [this.#intent.path, path];
    this.#intent?.forget();
    const { done, forget } = janitor.remove(paths, also, this.#contender.leave(leaving));
    return timers.atMost(answerWithinMs(waitMs), link.whileUp(done)).finally(forget);
  }
}
