import { LockConfigurationError, LockUnavailableError } from '../../lock/errors.js';
import { blocks, readQueue, refusalBy } from '../../queue/decide.js';
import type { QueueNode } from '../../queue/node-name.js';
import { certaintyMarginMs } from '../../session/certainty.js';
import { failedWith, isAboutAccess, SessionError } from '../../session/errors.js';
import { get, type GetRequest, type ListRequest, type MultiPart, type Outcome, sync } from '../../session/requests.js';
import type { EngineContext } from '../context.js';
import { describeRefusedHeartbeat } from '../hold/describe-loss.js';
import { isDoorOpen, waitAtDoor } from './doorway.js';
import { enqueue, refusal, tellRequeued } from './enqueue.js';
import { Hold } from '../hold/hold.js';
import { describeBlocking } from './holder-in-front.js';
import type { Interrupt } from '../bounds/interrupt.js';
import { isHeldBack, passLockDelay, type Patience } from '../policy/lock-delay.js';
import { listQueue } from '../upkeep/list-queue.js';
import type { LockRequest, Place } from './place.js';
import { explain, holdsAtOnce, inFront, look, type Turn, waitForTurn } from './turn.js';

const NOTHING: readonly MultiPart[] = [];

/** How the way to a hold ends without one. */
type Unheld = Exclude<Turn, 'holds'> | 'held back';

/**
 * The way of one call: a place in the queue, its turn, proof that the session lives, the hold. Whatever ends it early
 * leaves nothing behind.
 */
export async function obtain(context: EngineContext, request: LockRequest, interrupt: Interrupt): Promise<Hold> {
  for (;;) {
    const { place, children } = await enqueue(context, request, interrupt);
    let end: Hold | Unheld | undefined;
    try {
      end = holdAlone(context, request, place, children);
      end ??= await ripen(context, request, place, children, interrupt, 'waits');
      if (end instanceof Hold) return end;
    } finally {
      if (!(end instanceof Hold)) giveUp(context, place);
    }
    tellRequeued(context, request, end === 'removed' ? 'removed' : 'session-ended');
  }
}

/** What a try comes to that finds the lock busy. */
export class Busy {
  /** @param holder who is in the way, as a sentence; undefined where that is not known */
  constructor(readonly holder: string | undefined) {}
}

/** Takes the lock only if nobody is in the way: a strong read first, so that a busy key costs no write. */
export async function tryObtain(
  context: EngineContext,
  request: LockRequest,
  interrupt: Interrupt,
): Promise<Hold | Busy> {
  const { session, uplink, settings } = context;
  const { key, queuePath, mode } = request;
  // The first connection is only being made: that is no trouble yet.
  if (session.state === 'connecting') await uplink.whenUp(interrupt);
  if (!uplink.isUp)
    throw new LockUnavailableError(`The lock ${key} cannot be tried: there is no connection to ZooKeeper`, key);
  if (!isDoorOpen(context, key, mode)) return new Busy(describeBlocking(context, request, []));
  const reads = settings.lockDelayMs > 0 ? [get(queuePath)] : [];
  const outcomes = await interrupt.guard(session.batch([sync(queuePath), ...reads, listQueue(queuePath)]));
  const [synced, parent] = outcomes;
  const listed = outcomes.at(-1) as Outcome<ListRequest>;
  if (listed instanceof SessionError) {
    if (!failedWith(listed, 'NO_NODE')) throw refusal(listed, key);
  } else {
    if (synced instanceof SessionError) throw refusal(synced, key);
    const queue = readQueue(listed.children);
    for (const node of queue) {
      const reason = refusalBy(node, mode);
      if (reason !== undefined) throw explain(reason, request);
    }
    const blocking = queue.filter((node) => blocks(node.mode, mode));
    if (blocking.length > 0) return new Busy(describeBlocking(context, request, blocking));
    // Read before the queue, so that a holder that it names and that is not in there has vanished.
    if (reads.length > 0 && isHeldBack(context, request, parent as Outcome<GetRequest>, queue))
      return new Busy(undefined);
  }
  const { place, children } = await enqueue(context, request, interrupt);
  let end: Hold | Unheld | undefined;
  let ahead: readonly QueueNode[] = [];
  try {
    const seen = children ?? (await look(context, request, place, interrupt));
    if (seen === undefined) end = 'session ended';
    // Somebody came in between: back to busy, rather than wait for it.
    else if (!holdsAtOnce(seen, place, request)) {
      ahead = inFront(seen, place);
      end = 'held back';
    } else end = await ripen(context, request, place, seen, interrupt, 'tries');
  } finally {
    if (!(end instanceof Hold)) giveUp(context, place);
  }
  switch (end) {
    case 'held back':
      return new Busy(describeBlocking(context, request, ahead));
    case 'session ended':
      throw new LockUnavailableError(`The session ended while the lock ${key} was being tried`, key);
    case 'removed':
      return tryObtain(context, request, interrupt);
    default:
      return end;
  }
}

function giveUp(context: EngineContext, place: Place): void {
  place.ownWatch.takeBack(context.session);
  void context.janitor.remove([place.path], place.lockDelay.onGiveUp);
}

/** The common case, without a detour: nobody else in the queue, and the session is proved to live. */
function holdAlone(
  context: EngineContext,
  request: LockRequest,
  place: Place,
  children: readonly string[] | undefined,
): Hold | undefined {
  if (children?.length !== 1 || context.settings.lockDelayMs > 0 || !isCertain(context, place)) return undefined;
  if (!isDoorOpen(context, request.key, request.mode)) return undefined;
  return holdsAtOnce(children, place, request) ? enter(context, request, place, NOTHING) : undefined;
}

async function ripen(
  context: EngineContext,
  request: LockRequest,
  place: Place,
  seen: readonly string[] | undefined,
  interrupt: Interrupt,
  patience: Patience,
): Promise<Hold | Unheld> {
  let children = seen;
  for (;;) {
    const turn = await waitForTurn(context, request, place, children, interrupt);
    if (turn !== 'holds') return turn;
    children = undefined;
    if (!isDoorOpen(context, request.key, request.mode)) {
      if (patience === 'tries') return 'held back';
      await waitAtDoor(context, request.key, interrupt);
      continue;
    }
    if (!isCertain(context, place) && !(await proveCertain(context, request, place, interrupt))) continue;
    let onOrderlyRelease: Awaited<ReturnType<typeof passLockDelay>> = NOTHING;
    if (context.settings.lockDelayMs > 0) {
      onOrderlyRelease = await passLockDelay(context, request, place, interrupt, patience);
      if (onOrderlyRelease === 'held back') return onOrderlyRelease;
      if (onOrderlyRelease === undefined) continue;
      if (!isCertain(context, place) && !(await proveCertain(context, request, place, interrupt))) continue;
    }
    // Removed meanwhile by somebody: what it looks at next tells it.
    if (place.ownWatch.isGone) continue;
    if (!isDoorOpen(context, request.key, request.mode)) continue;
    return enter(context, request, place, onOrderlyRelease);
  }
}

function enter(context: EngineContext, request: LockRequest, place: Place, parts: readonly MultiPart[]): Hold {
  const hold = new Hold(context, request, place, parts);
  context.doorway?.enter(hold);
  return hold;
}

/** The loss is signalled one margin before the end: the other is for the write that is to renew what there is. */
function neededMs(place: Place): number {
  return 2 * certaintyMarginMs(place.session.timeoutMs);
}

/**
 * Whether the session is proved to live, with enough of it left to be of use. Not while the link is down: the last answer
 * may have come together with the end of the connection.
 */
function isCertain({ session, clock, uplink }: EngineContext, place: Place): boolean {
  return uplink.isUp && session.identity === place.session && session.certainUntil() - clock.now() > neededMs(place);
}

/** Proves it, with a write if need be. false: look again. */
async function proveCertain(
  context: EngineContext,
  { key }: LockRequest,
  place: Place,
  interrupt: Interrupt,
): Promise<boolean> {
  if (context.session.identity !== place.session) return false;
  try {
    await interrupt.guard(context.session.proveLife(neededMs(place)));
    return isCertain(context, place);
  } catch (error) {
    if (!(error instanceof SessionError)) throw error;
    // Whatever else it is (servers that are slow or short of something, a node that somebody removes): the next try may do.
    if (!isAboutAccess(error)) return false;
    const text = `The lock ${key} cannot be held: ${describeRefusedHeartbeat(error)}`;
    throw new LockConfigurationError(text, key, { cause: error });
  }
}
