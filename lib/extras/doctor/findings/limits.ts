import { quoted } from './command-lines.js';
import type { ListedNode } from '../look/lock-tree.js';
import type { SeenKey } from '../look/seen-key.js';
import { RECORD_KEEPER } from '../../../queue/reserved-names.js';
import type { Stat } from '../../../session/requests.js';
import { firstOf, type Weighed } from './weighed.js';

/** The numbers of a queue end here: the counter of a node is a signed integer of 32 bits. */
const NUMBERS = 2 ** 31;
const NEARLY_FULL = 0.9 * NUMBERS;
const ABOUT_TO_END = 0.99 * NUMBERS;

/**
 * The most that servers take in one piece, where `jute.maxbuffer` is not set. When a session ends, its leader sends the paths of all
 * of its ephemeral nodes in one piece.
 */
const JUTE_MAX_BUFFER_BYTES = 0xfffff;
/** A length stands in front of each text there, and takes these bytes. */
const LENGTH_BYTES = 4;
const SESSION_NEAR_LIMIT = 0.5;
/** A server takes at most this many connections of one address, where `maxClientCnxns` is not set. */
const MAX_CLIENT_CONNECTIONS = 60;
const HOST_NEAR_LIMIT = 0.8;

/** The number that the next contender would get. */
export function nextSequence({ cversion, numChildren }: Pick<Stat, 'cversion' | 'numChildren'>): number {
  // Servers tell in `cversion` how often children came or went: twice the number of those that came, which is the next number, less
  // the number of those that are there. It is a signed integer and turns negative half-way; `>>> 0` reads the sum without a sign.
  return ((cversion + numChildren) >>> 0) / 2;
}

/** Keys whose numbers come to their end: at the ceiling no call gets the lock any more. */
export function nearlyFull(nodes: readonly ListedNode[], keyOf: (node: ListedNode) => string): Weighed[] {
  return nodes.flatMap((node) => {
    const next = nextSequence(node.stat);
    if (next < NEARLY_FULL) return [];
    const key = keyOf(node);
    const isKept = node.reserved.includes(RECORD_KEEPER);
    const record = `${RECORD_KEEPER} keeps it: remove that first, zkCli.sh delete ${quoted(`${node.path}/${RECORD_KEEPER}`)}`;
    return [
      {
        kind: 'sequence nearly full',
        severity: next >= ABOUT_TO_END ? 'critical' : 'warning',
        key,
        text: `The queue of ${key} has given out ${next} of its ${NUMBERS} numbers. Behind the last one all calls fail with LOCK_CONFIGURATION.`,
        advice:
          `Let the key rest until the servers have removed its node, a minute or two after the last contender has left: its numbers ` +
          `begin at 0 again, and fencing tokens go on rising. ${isKept ? `${record}. ` : ''}Or use another key from now on.`,
        weight: next,
      },
    ];
  });
}

/** Sessions with so many nodes that their end is too long for one piece. Only nodes of the tree that was read count. */
export function crowdedSessions(keys: readonly SeenKey[]): Weighed[] {
  const sessions = new Map<string, { nodes: number; bytes: number; readonly who: string }>();
  for (const { contenders } of keys) {
    for (const { snapshot, ephemeralOwner } of contenders) {
      if (ephemeralOwner === 0n) continue;
      const { sessionId, client, nodePath } = snapshot;
      const who = client?.host === undefined ? 'another kind of client' : `${client.host}, pid ${client.pid}`;
      const session = sessions.get(sessionId) ?? { nodes: 0, bytes: 0, who };
      session.nodes += 1;
      session.bytes += LENGTH_BYTES + Buffer.byteLength(nodePath);
      sessions.set(sessionId, session);
    }
  }
  return [...sessions].flatMap(([id, { nodes, bytes, who }]) => {
    if (bytes < SESSION_NEAR_LIMIT * JUTE_MAX_BUFFER_BYTES) return [];
    const percent = Math.round((100 * bytes) / JUTE_MAX_BUFFER_BYTES);
    return [
      {
        kind: 'session near its limit',
        severity: bytes >= JUTE_MAX_BUFFER_BYTES ? 'critical' : 'warning',
        key: undefined,
        text:
          `Session ${id} (${who}) has ${nodes} nodes here. When it ends, the servers tell each other of all of them in one piece of ` +
          `${bytes} bytes, which is ${percent} % of what they take (jute.maxbuffer, ${JUTE_MAX_BUFFER_BYTES} where it is not set).`,
        advice:
          'Bound how many calls of that process wait at once (maxWaiting, a queue of its own), or spread them over more processes. A larger ' +
          'jute.maxbuffer must be set on all servers alike.',
        weight: bytes,
      },
    ];
  });
}

/** Hosts with so many sessions that a server may refuse more. */
export function crowdedHosts(keys: readonly SeenKey[]): Weighed[] {
  const sessions = new Map<string, Set<string>>();
  for (const { contenders } of keys) {
    for (const { snapshot } of contenders) {
      const host = snapshot.client?.host;
      if (host === undefined) continue;
      const known = sessions.get(host) ?? new Set();
      sessions.set(host, known.add(snapshot.sessionId));
    }
  }
  return [...sessions].flatMap(([host, ids]) => {
    if (ids.size < HOST_NEAR_LIMIT * MAX_CLIENT_CONNECTIONS) return [];
    return [
      {
        kind: 'session near its limit',
        severity: 'notice',
        key: undefined,
        text:
          `${ids.size} sessions of host ${host} hold or wait for locks (${firstOf([...ids])}). A server takes ${MAX_CLIENT_CONNECTIONS} ` +
          'connections of one address, where maxClientCnxns is not set; those without locks are not counted here.',
        advice: 'Let a process share one lock service among all its code, or raise maxClientCnxns on all servers.',
        weight: ids.size,
      },
    ];
  });
}
