import type { ControlRequest, LinkRequest } from '../../core/link.js';
import type { Reply, Request } from '../../requests.js';
import type { SeededRandom } from '../time/random.js';
import { allows, READ } from '../tree/acl.js';
import { NO_AUTH, NO_NODE, NO_WATCHER, OK } from '../tree/error-numbers.js';
import type { Tree } from '../tree/tree.js';
import type { WatchOwner, WatchTable } from '../tree/watch-table.js';
import { statOf } from '../tree/znode.js';

/** The requests that a server answers without asking its leader. */
export type ReadRequest = Extract<
  Request | ControlRequest,
  { op: 'exists' | 'get' | 'list' | 'sync' | 'ping' | 'setWatches' | 'removeWatches' }
>;

export interface Answer {
  readonly errorNumber: number;
  readonly reply: Reply;
}

const NOTHING: Answer = { errorNumber: OK, reply: undefined };

function refused(errorNumber: number): Answer {
  return { errorNumber, reply: undefined };
}

export function isRead(request: LinkRequest): request is ReadRequest {
  switch (request.op) {
    case 'exists':
    case 'get':
    case 'list':
    case 'sync':
    case 'ping':
    case 'setWatches':
    case 'removeWatches':
      return true;
    case 'create':
    case 'delete':
    case 'set':
    case 'multi':
    case 'auth':
    case 'closeSession':
      return false;
  }
}

/** What a server answers from. */
interface ServerState {
  readonly tree: Tree;
  readonly watches: WatchTable;
  /** Undefined where names come in one order always. */
  readonly chance: SeededRandom | undefined;
}

export function answer({ tree, watches, chance }: ServerState, reader: WatchOwner, request: ReadRequest): Answer {
  switch (request.op) {
    case 'exists': {
      // The watch is set even where the node is missing: it then waits for the node's creation.
      if (request.watch !== undefined) watches.watchData(request.path, reader);
      const node = tree.nodes.get(request.path);
      return node === undefined ? refused(NO_NODE) : { errorNumber: OK, reply: statOf(node) };
    }
    case 'get': {
      const node = tree.nodes.get(request.path);
      if (node === undefined) return refused(NO_NODE);
      if (!allows(node.acl, READ, reader.identities)) return refused(NO_AUTH);
      if (request.watch !== undefined) watches.watchData(request.path, reader);
      return { errorNumber: OK, reply: { data: Uint8Array.from(node.data), stat: statOf(node) } };
    }
    case 'list': {
      const node = tree.nodes.get(request.path);
      if (node === undefined) return refused(NO_NODE);
      if (!allows(node.acl, READ, reader.identities)) return refused(NO_AUTH);
      if (request.watch !== undefined) watches.watchChildren(request.path, reader);
      // Servers promise no order of names, so a seeded run shuffles them.
      const children = [...node.children];
      return { errorNumber: OK, reply: { children: chance?.shuffled(children) ?? children, stat: statOf(node) } };
    }
    case 'setWatches':
      restoreWatches(tree, watches, reader, request);
      return NOTHING;
    case 'removeWatches':
      return watches.remove(request.path, request.kind, reader) ? NOTHING : refused(NO_WATCHER);
    case 'sync':
    case 'ping':
      return NOTHING;
  }
}

/**
 * Sets watches again after a reconnect. Changes since `relativeZxid` are told at once, the other paths are watched
 * again.
 */
function restoreWatches(
  tree: Tree,
  watches: WatchTable,
  reader: WatchOwner,
  request: Extract<ReadRequest, { op: 'setWatches' }>,
): void {
  for (const path of request.data) {
    const node = tree.nodes.get(path);
    if (node === undefined) reader.notify({ type: 'deleted', path });
    else if (node.mzxid > request.relativeZxid) reader.notify({ type: 'changed', path });
    else watches.watchData(path, reader);
  }
  for (const path of request.exists) {
    if (tree.nodes.has(path)) reader.notify({ type: 'created', path });
    else watches.watchData(path, reader);
  }
  for (const path of request.children) {
    const node = tree.nodes.get(path);
    if (node === undefined) reader.notify({ type: 'deleted', path });
    else if (node.pzxid > request.relativeZxid) reader.notify({ type: 'children', path });
    else watches.watchChildren(path, reader);
  }
}
