import { withChroot } from '../paths.js';
import type { ControlRequest } from './link.js';
import type { WatchRegistry } from './watch-registry.js';

type SetWatches = Extract<ControlRequest, { op: 'setWatches' }>;
type Kind = 'data' | 'exists' | 'children';

/** Counted in UTF-16 units, which take three bytes at the most: well under the megabyte at which a server hangs up. */
const MAX_PATH_UNITS = 128 * 1_024;
const KINDS: readonly Kind[] = ['data', 'exists', 'children'];

/**
 * The requests that set all watches again on a new connection, each small enough for a server. Their paths carry the
 * chroot already, because the link adds it to single paths only.
 */
export function* watchFrames(registry: WatchRegistry, relativeZxid: bigint, chroot: string): Generator<SetWatches> {
  let paths = emptyPaths();
  let units = 0;
  for (const kind of KINDS) {
    for (const path of registry.paths(kind)) {
      const serverPath = withChroot(chroot, path);
      if (units > 0 && units + serverPath.length > MAX_PATH_UNITS) {
        yield { op: 'setWatches', relativeZxid, ...paths };
        paths = emptyPaths();
        units = 0;
      }
      paths[kind].push(serverPath);
      units += serverPath.length;
    }
  }
  if (units > 0) yield { op: 'setWatches', relativeZxid, ...paths };
}

function emptyPaths(): Record<Kind, string[]> {
  return { data: [], exists: [], children: [] };
}
