import { NUMBERED_AFTER } from '../../queue/node-name.js';
import { isAboutTheLink, SessionError } from '../../session/errors.js';
import { type Children, list, type ListRequest, remove, type Watcher } from '../../session/requests.js';
import type { Session } from '../../session/session.js';

/**
 * Lists queues so that a create of ours whose answer never came is seen, if it will ever be carried out. `sync` is not
 * enough: a leader that cannot commit for a while answers it, and commits the create later. A write is decided behind
 * that create, on whatever server it is asked, also one that is refused: here the deletion of a node that never exists.
 *
 * Of one queue there is one list at a time. All who ask while it is under way share the next one: after a brown-out there
 * are as many as creates were given up.
 */
export class ListsBehindWrites {
  readonly #session: Session;
  readonly #underWay = new Map<string, Promise<Children | SessionError>>();
  readonly #next = new Map<string, Promise<Children | SessionError>>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** @param marker what the names looked for have in them */
  list(queuePath: string, marker: string): Promise<Children | SessionError> {
    const next = this.#next.get(queuePath);
    if (next !== undefined) return next;
    const underWay = this.#underWay.get(queuePath);
    if (underWay === undefined) return this.#send(queuePath, marker);
    const sent = underWay.then(() => {
      this.#next.delete(queuePath);
      return this.#send(queuePath, marker);
    });
    this.#next.set(queuePath, sent);
    return sent;
  }

  #send(queuePath: string, marker: string): Promise<Children | SessionError> {
    const sent = this.#session
      .batch([remove(`${queuePath}/${marker}`), listQueue(queuePath)])
      .then(([written, listed]) => {
        this.#underWay.delete(queuePath);
        return written instanceof SessionError && isAboutTheLink(written) ? written : listed;
      });
    this.#underWay.set(queuePath, sent);
    return sent;
  }
}

/** The names in a queue, perhaps with others among them. The keys below a key are children of its node, too: these are read past. */
export function listQueue(queuePath: string, watch?: Watcher): ListRequest {
  return list(queuePath, watch, NUMBERED_AFTER);
}
