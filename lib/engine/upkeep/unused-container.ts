import { SessionError } from '../../session/errors.js';
import { ancestry } from '../../session/paths.js';
import { create, exists, multi, remove } from '../../session/requests.js';
import type { Session } from '../../session/session.js';

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
