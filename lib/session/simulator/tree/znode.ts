import type { Acl, Stat } from '../../requests.js';

/** The owner that ZooKeeper stores for a container. It is never shown to clients. */
export const CONTAINER_OWNER = -0x8000_0000_0000_0000n;

/** One node, with its counters as the server keeps them. */
export interface Znode {
  data: Uint8Array;
  readonly acl: readonly Acl[];
  readonly czxid: bigint;
  mzxid: bigint;
  pzxid: bigint;
  readonly ctime: number;
  mtime: number;
  version: number;
  /** How many children were ever created, which is the next sequence number (an int32). */
  creates: number;
  readonly ephemeralOwner: bigint;
  readonly children: Set<string>;
}

export function isEphemeral(node: Znode): boolean {
  return node.ephemeralOwner !== 0n && node.ephemeralOwner !== CONTAINER_OWNER;
}

export function statOf(node: Znode): Stat {
  return {
    czxid: node.czxid,
    mzxid: node.mzxid,
    ctime: node.ctime,
    mtime: node.mtime,
    version: node.version,
    // The counter of creates is stored; creates and deletes together are shown.
    cversion: (node.creates * 2 - node.children.size) | 0,
    aversion: 0,
    ephemeralOwner: isEphemeral(node) ? node.ephemeralOwner : 0n,
    dataLength: node.data.length,
    numChildren: node.children.size,
    pzxid: node.pzxid,
  };
}
