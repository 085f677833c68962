import { NUMBERED_AFTER } from '../../queue/node-name.js';
import { isAboutTheLink, SessionError } from '../../session/errors.js';
import { type Children, list, type ListRequest, remove, type Watcher } from '../../session/requests.js';
import type { Session } from '../../session/session.js';

/**
 * Lists queues so that a create of this session whose answer never came is in the list, if it is ever carried out. `sync` is
 * not enough for that: a leader that cannot commit for a while answers it, and commits the create later. A write is decided
 * behind that create on every server, even a write that is refused: here the deletion of a node that never exists.
 */
export class ListsBehindWrites {
  readonly #session: Session;
  readonly #underWay = new Map<string, Promise<Children | SessionError>>();
  readonly #next = new Map<string, Promise<Children | SessionError>>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** @param marker a part of the names that are looked for; no node has it as its whole name */
  list(queuePath: string, marker: string): Promise<Children | SessionError> {
    // A list that is under way may have been sent before the caller's create, so the caller needs the next one. After a
    // brown-out as many callers come as creates were given up, and they all share that next list.
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
        // Only an answer shows that the write was decided, and NO_NODE is one.
        return written instanceof SessionError && isAboutTheLink(written) ? written : listed;
      });
    this.#underWay.set(queuePath, sent);
    return sent;
  }
}

/** Lists the names in a queue. Keys below the key are children of its node, too, and are skipped as far as possible. */
export function listQueue(queuePath: string, watch?: Watcher): ListRequest {
  return list(queuePath, watch, NUMBERED_AFTER);
}
