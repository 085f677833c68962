import type { Session } from '../../session/session.js';
import type { LinkState } from '../upkeep/link-state.js';
import { KeyQueue } from './key-queue.js';

/** The queues in which this process has contenders now. */
export class KeyQueues {
  readonly #session: Session;
  readonly #link: LinkState;
  readonly #handsOver: boolean;
  readonly #queues = new Map<string, KeyQueue>();

  /** @param handsOver whether a lock may be handed over inside this process: not where a key remembers who was inside */
  constructor(session: Session, link: LinkState, handsOver: boolean) {
    this.#session = session;
    this.#link = link;
    this.#handsOver = handsOver;
    link.onChange('contenders', (state) => {
      for (const [path, queue] of [...this.#queues]) {
        if (queue.identity === session.identity) {
          if (link.isUp) queue.reconnected();
          continue;
        }
        this.#queues.delete(path);
        queue.end(state === 'closed' ? link.closedError() : { kind: 'session ended' });
      }
    });
  }

  /** The queue of a key in the session that there is now. */
  of(key: { readonly key: string; readonly queuePath: string }): KeyQueue {
    const known = this.find(key.queuePath);
    if (known !== undefined) return known;
    const queue: KeyQueue = new KeyQueue(this.#session, this.#link, key, this.#handsOver, () => {
      if (this.#queues.get(key.queuePath) === queue) this.#queues.delete(key.queuePath);
    });
    this.#queues.set(key.queuePath, queue);
    return queue;
  }

  /** The same, where this process has a contender in it. */
  find(queuePath: string): KeyQueue | undefined {
    const queue = this.#queues.get(queuePath);
    return queue?.identity === this.#session.identity ? queue : undefined;
  }
}
