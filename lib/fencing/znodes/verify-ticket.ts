import type { SessionAccess } from '../../engine/lock-service.js';
import { failedWith, isAboutTheLink, SessionError } from '../../session/errors.js';
import { exists, list, type Stat, sync } from '../../session/requests.js';
import { lockIsOver, ticketOfAnotherNode, ticketOfReader, ticketOfWaiter } from '../refusals.js';
import { refusal } from './explain.js';
import type { Link } from './link.js';
import type { Right } from './ticket.js';

/** The bits of a token that are the transaction which created the contender's node. */
const TRANSACTION = (1n << 52n) - 1n;
/** A session that gave its lock back may take this long to remove its node; at most half of the time that the call has. */
const REMOVAL_WITHIN_MS = 1_000;

interface Look {
  readonly stat: Stat;
  readonly names: readonly string[];
}

/**
 * Asks the servers whether the node of a ticket is the one that its token tells of. A signed token is that of a lock that was
 * held. A token without a signature may be that of any contender, so its node must be the one that holds, as a writer.
 * @throws InvalidFencingTokenError, StaleFencingTokenError, LockUnavailableError
 */
export async function verifyTicket(
  link: Link,
  right: Right,
  path: string,
  standingOf: SessionAccess['standingOf'],
): Promise<void> {
  const { nodePath, token, shownAs } = right;
  const queuePath = nodePath.slice(0, nodePath.lastIndexOf('/'));
  const name = nodePath.slice(queuePath.length + 1);
  const { clock } = link.session;
  const removedBy = clock.now() + Math.min(REMOVAL_WITHIN_MS, link.remainingMs / 2);
  for (;;) {
    const { stat, names } = await look(link, right, path, queuePath);
    // A node of the same name may have been made again; its token is another one.
    if (stat.czxid !== (token & TRANSACTION)) throw ticketOfAnotherNode(right);
    if (shownAs === 'signed ticket') return;
    const standing = standingOf(names, name);
    if (standing.kind === 'holds') return;
    // The node went between the looks.
    if (!names.includes(name)) continue;
    if (standing.kind === 'is no writer') throw ticketOfReader(right, path);
    const ahead = `${queuePath}/${standing.behind}`;
    // Within a session a lock is handed on before the node of the one before is removed.
    const remainingMs = removedBy - clock.now();
    if (remainingMs <= 0 || !(await isOfSession(link, ahead, stat.ephemeralOwner))) throw ticketOfWaiter(right, path);
    await link.untilChanged(ahead, remainingMs);
  }
}

async function look(link: Link, right: Right, path: string, queuePath: string): Promise<Look> {
  for (;;) {
    await link.untilUp();
    // The process that handed the ticket over may be ahead of the server that is asked here.
    const requests = [sync(right.nodePath), exists(right.nodePath), list(queuePath)] as const;
    const [synced, stat, children] = await link.send(requests, 'look');
    const error = [synced, stat, children].find((answer): answer is SessionError => {
      return answer instanceof SessionError && !failedWith(answer, 'NO_NODE');
    });
    if (error !== undefined) {
      if (error.code === 'CLOSED') throw link.closed();
      if (!isAboutTheLink(error)) throw refusal(error, path);
      continue;
    }
    if (stat === undefined || stat instanceof SessionError) throw lockIsOver(right, path, link.isInDoubt);
    return { stat, names: children instanceof SessionError ? [] : children.children };
  }
}

/** Whether a node is of this session. A node that is gone by now counts as such: then there is something new to see. */
async function isOfSession(link: Link, path: string, session: bigint): Promise<boolean> {
  await link.untilUp();
  const [stat] = await link.send([exists(path)], 'look');
  return stat === undefined || stat instanceof SessionError || stat.ephemeralOwner === session;
}
