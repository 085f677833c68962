import { SessionError } from '../../session/errors.js';
import { ancestry } from '../../session/paths.js';
import { create, type CreateRequest, exists, multi, remove } from '../../session/requests.js';
import type { Session } from '../../session/session.js';

/** How many parents are remembered; one that was forgotten costs a create that finds it there. */
const MAX_KNOWN = 10_000;

/**
 * Which parents were there when last seen, so that a warm key is created under with a single request. Parents are
 * containers, made on demand and reaped by the servers when they have stood empty; the queue of a key with a lock-delay
 * remembers something between holds, so it is persistent. So is what is above it: that may be a key as well, and would
 * not be reaped with the persistent one in it.
 */
export class Parents {
  readonly #known = new Set<string>();
  readonly #mode: 'container' | 'persistent';

  constructor(mode: 'container' | 'persistent') {
    this.#mode = mode;
  }

  /** The creates that go in front of a contender's own. */
  missing(queuePath: string): CreateRequest[] {
    if (this.#known.has(queuePath)) return [];
    return ancestry(queuePath)
      .filter((path) => !this.#known.has(path))
      .map((path) => create(path, this.#mode));
  }

  seen(queuePath: string): void {
    if (this.#known.has(queuePath)) return;
    for (const path of ancestry(queuePath)) this.#known.add(path);
    for (const path of this.#known) {
      if (this.#known.size <= MAX_KNOWN) break;
      this.#known.delete(path);
    }
  }

  /** A create found no parent: any of them may be gone. */
  vanished(queuePath: string): void {
    for (const path of ancestry(queuePath)) this.#known.delete(path);
  }
}

/**
 * Sees to it that the servers remove the containers of a contender that never arrived. They remove those that stand empty,
 * but none that never had a child (`ContainerManager`: only a cversion above 0 counts). So the deepest one that is there
 * gets a child for the length of a transaction; those above it have had one. It is not deleted here, as a node that
 * somebody has made to stay looks the same, and another contender may be on its way into it.
 *
 * @returns what the servers refused, if they did
 */
export async function useUnusedContainer(
  session: Session,
  queuePath: string,
  marker: string,
): Promise<SessionError | undefined> {
  const paths = ancestry(queuePath);
  const found = await session.batch(paths.map((path) => exists(path)));
  const refused = found.find((outcome) => outcome instanceof SessionError);
  if (refused !== undefined) return refused;
  const depth = found.findLastIndex((outcome) => outcome !== undefined);
  const deepest = found[depth];
  if (deepest === undefined || deepest instanceof SessionError || deepest.cversion !== 0) return undefined;
  const child = `${paths[depth]!}/${marker}`;
  const [used] = await session.batch([multi([create(child, 'ephemeral'), remove(child)])]);
  return used instanceof SessionError ? used : undefined;
}
