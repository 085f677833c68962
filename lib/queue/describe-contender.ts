import { type ContenderSnapshot, contenderSnapshot } from '../lock/snapshot.js';
import { fencingToken } from '../lock/token.js';
import { decodeContender } from './node-data.js';
import type { QueueNode } from './node-name.js';

/** What was read of a contender's node. */
export interface ReadContender {
  readonly data: Uint8Array;
  readonly stat: { readonly czxid: bigint; readonly ctime: number };
  /** The session that owns the node, as ZooKeeper's logs write it. */
  readonly sessionId: string;
}

/** Describes a contender to people. */
export function describeContender(
  queuePath: string,
  { name, mode }: QueueNode,
  { data, stat, sessionId }: ReadContender,
  nowMs: number,
): ContenderSnapshot {
  return contenderSnapshot({
    nodePath: `${queuePath}/${name}`,
    mode,
    fencingToken: fencingToken(stat.czxid),
    sessionId,
    since: new Date(stat.ctime),
    ageMs: Math.max(0, nowMs - stat.ctime),
    client: decodeContender(data),
  });
}
