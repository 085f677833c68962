import { StaleFencingTokenError } from '../../lock/errors.js';
import { fencingToken } from '../../lock/token.js';
import { readQueue } from '../../queue/decide.js';
import { decodeContender } from '../../queue/node-data.js';
import { NUMBERED_AFTER, type QueueNode } from '../../queue/node-name.js';
import { waitersIn } from '../../queue/waiters.js';
import type { PatientLink } from '../../session/patient-link.js';
import { get, list, type ListRequest, type NodeData, remove } from '../../session/requests.js';

/** The name of a node that never is. */
const NEVER_THERE = '.never-there';
/** At most this many holders are named in an error. */
const MAX_NAMED = 3;

/** Lists a queue without the keys below the key, as far as possible. */
export function listNames(queuePath: string): ListRequest {
  return list(queuePath, undefined, NUMBERED_AFTER);
}

/** The names in a queue; none where there is no queue. */
export async function namesIn(link: PatientLink, queuePath: string): Promise<readonly string[]> {
  // A list behind a write shows all that was written before. A server that was cut off answers a read, and not the write.
  const [, listed] = await link.ask([remove(`${queuePath}/${NEVER_THERE}`), listNames(queuePath)], 'NO_NODE');
  return listed?.children ?? [];
}

/** A contender that holds, with the intent of its upgrade, if it has one. */
export interface HolderNode {
  readonly path: string;
  readonly czxid: bigint;
}

/**
 * Finds the node of the holder that has this token.
 * @throws StaleFencingTokenError where nobody holds the lock with it; it names those who do
 */
export async function findHolder(
  link: PatientLink,
  key: string,
  queuePath: string,
  token: bigint,
): Promise<HolderNode> {
  const names = await namesIn(link, queuePath);
  const waits = new Set(waitersIn(names).map(({ name }) => name));
  const holders = readQueue(names).filter(({ name }) => !waits.has(name));
  const found = await link.ask(
    holders.map(({ name }) => get(`${queuePath}/${name}`)),
    'NO_NODE',
  );
  const held = holders.flatMap((node, index) => {
    const data = found[index];
    return data === undefined ? [] : [{ node, data, token: fencingToken(data.stat.czxid) }];
  });
  const one = held.find((holder) => holder.token === token);
  if (one !== undefined) return { path: `${queuePath}/${one.node.name}`, czxid: one.data.stat.czxid };
  const who = held.slice(0, MAX_NAMED).map(describeHolder).join('; ');
  const more = held.length > MAX_NAMED ? `; and ${held.length - MAX_NAMED} more` : '';
  const present = held.length === 0 ? 'Nobody holds it now' : `It is held by ${who}${more}`;
  throw new StaleFencingTokenError(
    `The lock ${key} is not held with the token ${token}, so nothing was written. ${present}. Look again at who holds it, and ` +
      'break that one if it is the one that is stuck',
    key,
  );
}

function describeHolder({ node, data, token }: { node: QueueNode; data: NodeData; token: bigint }): string {
  const { label, host, pid } = decodeContender(data.data) ?? {};
  const name = [label, host, pid === undefined ? undefined : `pid ${pid}`].filter((part) => part !== undefined);
  const who = name.length === 0 ? node.name : name.join(', ');
  return `token ${token} (${who}, in the queue since ${new Date(data.stat.ctime).toISOString()})`;
}

/** This package and Curator put this in front of all names of one contender. */
const PROTECTION = /^_c_[0-9a-f-]{36}-/;

/** The nodes of the contender with this path: its own, and after an upgrade the intent, which has the same id. */
export async function nodesOf(link: PatientLink, queuePath: string, path: string): Promise<readonly string[]> {
  const own = path.slice(queuePath.length + 1);
  const [prefix] = PROTECTION.exec(own) ?? [own];
  const names = await namesIn(link, queuePath);
  return names.filter((name) => name.startsWith(prefix)).map((name) => `${queuePath}/${name}`);
}
