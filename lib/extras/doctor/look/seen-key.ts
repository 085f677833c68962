import type { ContenderSnapshot } from '../../../lock/snapshot.js';
import { breakingIn, type Intervention } from '../../../queue/intervention.js';
import { describeContender } from '../../../queue/describe-contender.js';
import { isIntentData } from '../../../queue/intent-data.js';
import { type KeyRecord, type Vanished, vanishedIn } from '../../../queue/key-record.js';
import type { QueueNode } from '../../../queue/node-name.js';
import { type ContenderState, contenderStates } from '../../../queue/contender-states.js';
import type { NodeData } from '../../../session/requests.js';
import { sessionIdText } from '../../../session/session-id.js';
import type { ListedNode } from './lock-tree.js';

/** One contender, as its node shows it. */
export interface SeenContender {
  readonly node: QueueNode;
  /** Says whether the contender holds or waits, as far as the queue shows it. */
  readonly state: ContenderState;
  readonly snapshot: ContenderSnapshot;
  /** The transaction that created the node. */
  readonly czxid: bigint;
  /** 0n for a node that no session owns. */
  readonly ephemeralOwner: bigint;
  /** The operator who has broken its lock. */
  readonly breaking: Intervention | undefined;
  /** True for the second node of an upgrade if the first one is not in the queue. */
  readonly isLeftIntent: boolean;
}

/** A key with contenders, or with a record that closes it. */
export interface SeenKey {
  readonly key: string;
  readonly listed: ListedNode;
  /** In the order of the queue. */
  readonly contenders: readonly SeenContender[];
  /** A holder that vanished inside. */
  readonly vanished: Vanished | undefined;
}

/** The key with its namespace, which is what the path of its node has in front of it. */
export function namedKey({ key, listed }: SeenKey): { readonly key: string; readonly namespace: string } {
  return { key, namespace: listed.path.slice(0, listed.path.length - key.length) };
}

/** All that was read of a key besides its list. */
export interface ReadKey {
  readonly found: ReadonlyMap<string, NodeData | 'left'>;
  readonly record: KeyRecord;
}

/** Puts together what was read of a key. A contender that has left meanwhile is left out. */
export function seenKey(key: string, listed: ListedNode, { found, record }: ReadKey, nowMs: number): SeenKey {
  const left = listed.queue.filter(({ name }) => found.get(name) !== 'left');
  const contenders: SeenContender[] = [];
  for (const [node, state] of contenderStates(left, found)) {
    const read = found.get(node.name);
    if (read === undefined || read === 'left') continue;
    const { czxid, ephemeralOwner } = read.stat;
    contenders.push({
      node,
      state,
      snapshot: describeContender(listed.path, node, { ...read, sessionId: sessionIdText(ephemeralOwner) }, nowMs),
      czxid,
      ephemeralOwner,
      breaking: breakingIn(read.data),
      isLeftIntent:
        state !== 'intent' && node.ours && node.mode === 'write' && isIntentData(read.data, read.stat.dataLength),
    });
  }
  const isInside = left.some(({ name }) => name === record.inside?.name);
  return { key, listed, contenders, vanished: vanishedIn(record, isInside ? record.inside!.name : '') };
}
