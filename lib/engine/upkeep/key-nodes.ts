import { NUMBERED_AFTER } from '../../queue/node-name.js';
import { RECORD_KEEPER } from '../../queue/reserved-names.js';
import { isAboutTheLink, SessionError } from '../../session/errors.js';
import { ancestry } from '../../session/paths.js';
import {
  type Children,
  create,
  type CreateRequest,
  exists,
  list,
  type ListRequest,
  multi,
  remove,
  type Watcher,
} from '../../session/requests.js';
import type { Session } from '../../session/session.js';

/** How many parents are remembered. A forgotten one costs a create that finds it there. */
const MAX_KNOWN = 10_000;

/**
 * The parents that were there when last seen, so that a contender of a warm key is created with a single request. Parents
 * are containers, which the servers remove when they stand empty. One whose data must outlive its contenders, as they use the record
 * of the key, has a child that keeps it.
 */
export class Parents {
  readonly #known = new Set<string>();

  /** The creates of missing parents, to be sent in front of a contender's own. */
  missing(queuePath: string, usesRecord: boolean): CreateRequest[] {
    const keeper = keeperOf(queuePath);
    const isKept = !usesRecord || this.#known.has(keeper);
    if (isKept && this.#known.has(queuePath)) return [];
    const parents = ancestry(queuePath)
      .filter((path) => !this.#known.has(path))
      .map((path) => create(path, 'container'));
    return isKept ? parents : [...parents, create(keeper, 'persistent')];
  }

  seen(queuePath: string, usesRecord: boolean): void {
    const keeper = keeperOf(queuePath);
    if (this.#known.has(queuePath) && (!usesRecord || this.#known.has(keeper))) return;
    for (const path of ancestry(queuePath)) this.#known.add(path);
    if (usesRecord) this.#known.add(keeper);
    // A `Set` keeps the order of insertion, so the oldest go first.
    for (const path of this.#known) {
      if (this.#known.size <= MAX_KNOWN) break;
      this.#known.delete(path);
    }
  }

  /** Must be called when a create found no parent. Any of the parents may be gone. */
  vanished(queuePath: string): void {
    for (const path of [...ancestry(queuePath), keeperOf(queuePath)]) this.#known.delete(path);
  }
}

function keeperOf(queuePath: string): string {
  return `${queuePath}/${RECORD_KEEPER}`;
}

/**
 * Makes the servers remove the containers of a contender that never arrived. The servers remove empty containers, but never
 * one that has had no child (`ContainerManager` asks for a cversion above 0), so the deepest container that is there gets a
 * child for the length of a transaction.
 *
 * @returns the servers' refusal, if there was one
 */
export async function useUnusedContainer(
  session: Session,
  queuePath: string,
  marker: string,
): Promise<SessionError | undefined> {
  const paths = ancestry(queuePath);
  const found = await session.batch(paths.map((path) => exists(path)));
  // A node that may not be read belongs to others, and is no container that was made for this contender.
  const refused = found.find((outcome) => outcome instanceof SessionError && isAboutTheLink(outcome));
  if (refused instanceof SessionError) return refused;
  // The containers above the deepest one have had that one as their child.
  const depth = found.findLastIndex((outcome) => outcome !== undefined);
  const deepest = found[depth];
  if (deepest === undefined || deepest instanceof SessionError || deepest.cversion !== 0) return undefined;
  // The container is not deleted here. A node that somebody made to stay looks the same, and another contender may be on its
  // way into it.
  const child = `${paths[depth]!}/${marker}`;
  if (session.hasMultis) {
    const [used] = await session.batch([multi([create(child, 'ephemeral'), remove(child)])]);
    return used instanceof SessionError ? used : undefined;
  }
  // Without a transaction the child is there for a moment. Where the link goes away in it, the child goes with the session.
  const [made, removed] = await session.batch([create(child, 'ephemeral'), remove(child)]);
  return [made, removed].find((outcome) => outcome instanceof SessionError);
}

/**
 * Lists queues so that a create of this session whose answer never came is in the list, if it is ever carried out. `sync` is
 * not enough for that: a leader that cannot commit for a while answers it, and commits the create later. A write is decided
 * behind that create on every server, even a write that is refused: here the deletion of a node that never exists.
 */
export class ListsBehindWrites {
  readonly #underWay = new Map<string, Promise<Children | SessionError>>();
  readonly #next = new Map<string, Promise<Children | SessionError>>();

  constructor(private readonly session: Session) {}

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
    const sent = this.session
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
