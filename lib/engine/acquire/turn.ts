import { LockConfigurationError } from '../../lock/errors.js';
import { decide, type Decision, type Refusal } from '../../queue/decide.js';
import type { QueueNode } from '../../queue/node-name.js';
import { isAboutTheLink, SessionError } from '../../session/errors.js';
import { get, type WatchEvent, type Watcher } from '../../session/requests.js';
import { Bell } from '../bounds/bell.js';
import type { EngineContext } from '../context.js';
import { refusal } from './enqueue.js';
import { lookBeforeEnd, sawHolder } from './holder-in-front.js';
import type { Interrupt } from '../bounds/interrupt.js';
import { listQueue } from '../upkeep/list-queue.js';
import type { LockRequest, Place } from './place.js';
import { namesReader } from '../hold/upgrade-intent.js';

/** How waiting in a queue ends. */
export type Turn = 'holds' | 'session ended' | 'removed';

/**
 * Waits until the contender is first: looks, watches the one node that stands in its way, looks again. `seen` is what it
 * saw when it took its place, if it saw anything.
 */
export async function waitForTurn(
  context: EngineContext,
  request: LockRequest,
  place: Place,
  seen: readonly string[] | undefined,
  interrupt: Interrupt,
): Promise<Turn> {
  let children = seen;
  for (;;) {
    children ??= await look(context, request, place, interrupt);
    if (children === undefined) return 'session ended';
    const decision = decide(children, place.name);
    children = undefined;
    switch (decision.kind) {
      case 'hold':
        return 'holds';
      case 'gone':
        return 'removed';
      case 'refuse':
        throw explain(decision.reason, request);
      case 'hold if named':
        interrupt.isBehindOthers = true;
        if (await isNamed(context, request, place, decision, interrupt)) return 'holds';
        break;
      case 'wait':
        interrupt.isBehindOthers = true;
        if (await isLetIn(context, request, place, decision, interrupt)) return 'holds';
    }
  }
}

/** Whether what a contender saw lets it in without waiting. */
export function holdsAtOnce(children: readonly string[], place: Place, request: LockRequest): boolean {
  const decision = decide(children, place.name);
  if (decision.kind === 'refuse') throw explain(decision.reason, request);
  return decision.kind === 'hold';
}

/** Who is in the way of a contender that does not hold at once. */
export function inFront(children: readonly string[], place: Place): readonly QueueNode[] {
  const decision = decide(children, place.name);
  if (decision.kind === 'wait') return [decision.watch];
  return decision.kind === 'hold if named' ? decision.intents : [];
}

/** @returns the queue as it is now; undefined when the contender's session has ended */
export async function look(
  { session, uplink }: EngineContext,
  { key, queuePath }: LockRequest,
  place: Place,
  interrupt: Interrupt,
): Promise<readonly string[] | undefined> {
  for (;;) {
    await uplink.whenUp(interrupt);
    if (session.identity !== place.session) return undefined;
    const [listed] = await interrupt.guard(session.batch([listQueue(queuePath)]));
    if (!(listed instanceof SessionError)) return listed.children;
    // Without a parent there is no contender either.
    if (listed.code === 'NO_NODE') return [];
    if (!isAboutTheLink(listed)) throw refusal(listed, key);
  }
}

/**
 * Waits for the node in the way to change.
 * @returns true when it was deleted and that alone decides; false: look again
 */
async function isLetIn(
  context: EngineContext,
  request: LockRequest,
  place: Place,
  { watch, head, onlyOneAhead }: Extract<Decision, { kind: 'wait' }>,
  interrupt: Interrupt,
): Promise<boolean> {
  const { key, queuePath } = request;
  const { session } = context;
  const path = `${queuePath}/${watch.name}`;
  const { ownWatch } = place;
  const obstacle = new Obstacle();
  const requests = onlyOneAhead && !ownWatch.isSet ? [ownWatch.ask(), get(path, obstacle)] : [get(path, obstacle)];
  const stopListening = context.uplink.onChange(() => obstacle.bell.ring());
  ownWatch.onGone = () => obstacle.bell.ring();
  // Whoever is next in line reads the holder's node with the watch that it sets.
  const isNext = head.name === watch.name;
  const stopLooking = isNext ? undefined : lookBeforeEnd(context, request, head.name, interrupt);
  try {
    const outcomes = await interrupt.guard(session.batch(requests));
    if (outcomes.length === 2) ownWatch.answered(outcomes[0]!);
    const watched = outcomes.at(-1);
    if (watched instanceof SessionError) {
      if (watched.code === 'NO_NODE' || isAboutTheLink(watched)) return false;
      throw refusal(watched, key);
    }
    if (isNext && watched !== undefined) sawHolder(context, request, path, watched, interrupt);
    await interrupt.guard(obstacle.bell.heard());
    return obstacle.wasDeleted && onlyOneAhead && ownWatch.isSet && session.identity === place.session;
  } finally {
    stopListening();
    stopLooking?.();
    interrupt.describeHolder = undefined;
    ownWatch.onGone = undefined;
    session.unwatch(path, obstacle);
  }
}

/** An upgrader is turning its lock into a writing one: only the readers it knows of may still enter. */
async function isNamed(
  context: EngineContext,
  { queuePath }: LockRequest,
  place: Place,
  { intents }: Extract<Decision, { kind: 'hold if named' }>,
  interrupt: Interrupt,
): Promise<boolean> {
  const { session } = context;
  const change = new Obstacle();
  const paths = intents.map(({ name }) => `${queuePath}/${name}`);
  const stopListening = context.uplink.onChange(() => change.bell.ring());
  try {
    const outcomes = await interrupt.guard(session.batch(paths.map((path) => get(path, change))));
    if (outcomes.some((outcome) => outcome instanceof SessionError)) return false;
    const named = outcomes.every(
      (outcome) => !(outcome instanceof SessionError) && namesReader(outcome.data, place.name),
    );
    if (named) return true;
    await interrupt.guard(change.bell.heard());
    return false;
  } finally {
    stopListening();
    for (const path of paths) session.unwatch(path, change);
  }
}

class Obstacle implements Watcher {
  readonly bell = new Bell();
  wasDeleted = false;

  onWatchEvent(event: WatchEvent): void {
    if (event.type === 'deleted') this.wasDeleted = true;
    this.bell.ring();
  }
}

export function explain({ because, node }: Refusal, { key, mode }: LockRequest): LockConfigurationError {
  switch (because) {
    case 'counter spent':
      return new LockConfigurationError(
        `The sequence counter of ${key} is used up (${node.name}): ZooKeeper no longer tells who came first. ` +
          'Delete the parent node once nobody queues there, and it starts again',
        key,
      );
    case 'foreign family':
      return new LockConfigurationError(
        `Another kind of client queues on ${key} as ${node.name}, and would not notice a contender of mode ${mode}. ` +
          'With foreign clients a key belongs to one family: exclusive locks, or read and write locks',
        key,
      );
  }
}
