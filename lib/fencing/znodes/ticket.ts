import type { SessionAccess } from '../../engine/lock-service.js';
import { LockHandle } from '../../lock/handle.js';
import { exists, list, type Stat, sync } from '../../session/requests.js';
import { type FenceSettings, tokenToCompare } from '../fence.js';
import {
  assertMayWrite,
  lockIsOver,
  ticketOfAnotherLock,
  ticketOfAnotherNode,
  ticketOfNoPlace,
  ticketOfReader,
  ticketOfWaiter,
} from '../refusals.js';
import type { PatientLink } from '../../session/patient-link.js';

/** What another process needs to write under a lock: plain data, for a message, a job, a header. */
export interface LockTicket {
  readonly key: string;
  /** The contender's node: as long as it is there, nobody else has the lock. */
  readonly nodePath: string;
  /** In digits, or signed. */
  readonly fencingToken: string;
}

/** The right by which a writer writes. */
export interface Right {
  readonly key: string;
  readonly nodePath: string;
  readonly token: bigint;
  /** What the right was shown as. A handle is believed; for a ticket the servers are asked. */
  readonly shownAs: 'handle' | 'signed ticket' | 'ticket';
}

/** The bits of a token that are the transaction which created the contender's node. */
const TRANSACTION = (1n << 52n) - 1n;
/** A session that gave its lock back may take this long to remove its node; at most half of the time that the call has. */
const REMOVAL_WITHIN_MS = 1_000;
/** The name of a contender's node ends with its number in the queue. */
const CONTENDER = /^[^/]+\d{10}$/;

/**
 * The lock as plain data. Those who verify signatures want `signedToken`.
 * @throws LockConfigurationError for a lock that gives no right to write
 */
export function ticketOf(lock: LockHandle, signedToken?: string): LockTicket {
  assertMayWrite(lock);
  const { key, nodePath, fencingToken } = lock;
  return { key, nodePath, fencingToken: signedToken ?? fencingToken.toString() };
}

/**
 * Checks all that can be checked without asking the servers. For a handle this waits while its lock is suspended.
 * @throws LockLostError, InvalidFencingTokenError
 */
export async function rightOf(
  fence: LockHandle | LockTicket,
  path: string,
  namespace: string,
  settings: FenceSettings,
): Promise<Right> {
  const { key, nodePath } = fence;
  const needed = settings.lockKey?.(path);
  if (needed !== undefined && key !== needed) throw ticketOfAnotherLock(key, path, needed);
  const queue = `${namespace}${String(key)}/`;
  if (typeof nodePath !== 'string' || !nodePath.startsWith(queue) || !CONTENDER.test(nodePath.slice(queue.length))) {
    throw ticketOfNoPlace(key, nodePath, queue);
  }
  const isHandle = fence instanceof LockHandle;
  const token = await tokenToCompare(isHandle ? fence : fence.fencingToken, path, settings);
  const ticket = settings.keys === undefined ? 'ticket' : 'signed ticket';
  return { key, nodePath, token, shownAs: isHandle ? 'handle' : ticket };
}

/**
 * Asks the servers whether the node of a ticket is the one that its token tells of. A signed token is that of a lock that was
 * held. A token without a signature may be that of any contender, so its node must be the one that holds, as a writer.
 * @throws InvalidFencingTokenError, StaleFencingTokenError, LockUnavailableError
 */
export async function verifyTicket(
  link: PatientLink,
  right: Right,
  writerState: SessionAccess['writerState'],
): Promise<void> {
  const { nodePath, token, shownAs } = right;
  const queuePath = nodePath.slice(0, nodePath.lastIndexOf('/'));
  const name = nodePath.slice(queuePath.length + 1);
  const { clock } = link.session;
  const removedBy = clock.now() + Math.min(REMOVAL_WITHIN_MS, link.remainingMs / 2);
  for (;;) {
    const { stat, names } = await look(link, right, queuePath);
    // A node of the same name may have been made again; its token is another one.
    if (stat.czxid !== (token & TRANSACTION)) throw ticketOfAnotherNode(right);
    if (shownAs === 'signed ticket') return;
    const state = writerState(names, name);
    if (state.kind === 'holds') return;
    // The node went between the looks.
    if (!names.includes(name)) continue;
    if (state.kind === 'is no writer') throw ticketOfReader(right, link.path);
    const ahead = `${queuePath}/${state.behind}`;
    // Within a session a lock is handed on before the node of the one before is removed.
    const remainingMs = removedBy - clock.now();
    if (remainingMs <= 0 || !(await isOfSession(link, ahead, stat.ephemeralOwner)))
      throw ticketOfWaiter(right, link.path);
    await link.untilChanged(ahead, remainingMs);
  }
}

async function look(
  link: PatientLink,
  right: Right,
  queuePath: string,
): Promise<{ readonly stat: Stat; readonly names: readonly string[] }> {
  // The process that handed the ticket over may be ahead of the server that is asked here.
  const requests = [sync(right.nodePath), exists(right.nodePath), list(queuePath)] as const;
  const [, stat, children] = await link.ask(requests, 'NO_NODE');
  if (stat === undefined) throw lockIsOver(right, link.path, link.isInDoubt);
  return { stat, names: children?.children ?? [] };
}

/** Whether a node is of this session. */
async function isOfSession(link: PatientLink, path: string, session: bigint): Promise<boolean> {
  const [stat] = await link.ask([exists(path)]);
  // A node that is gone by now counts as such: then there is something new to see.
  return stat === undefined || stat.ephemeralOwner === session;
}
