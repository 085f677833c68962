import { LockConfigurationError } from '../../lock/errors.js';
import { readersInside, readQueue } from '../../queue/decide.js';
import { parseObject } from '../../queue/node-data.js';
import { namePrefix } from '../../queue/node-name.js';
import { isAboutTheLink, SessionError } from '../../session/errors.js';
import { create, get, type NodeData, set } from '../../session/requests.js';
import type { CallScope } from '../bounds/call-scope.js';
import { describeOther, describeOwn, refusal } from '../error-texts.js';
import { listQueue } from '../upkeep/key-nodes.js';
import { Latch, type Patience } from '../wait.js';
import type { HoldParts } from './hold-parts.js';
import type { Hold } from './hold.js';

/**
 * Turns an upgradeable hold into a writing one. An intent at the end of the queue keeps newcomers out, and names the readers
 * that are inside, which the upgrade waits for. Readers between the two nodes that have not entered find that they are not
 * named, and wait.
 *
 * @param patience with 'tries' the upgrade fails where it would have to wait
 */
export async function upgradeHold(parts: HoldParts, hold: Hold, scope: CallScope, patience: Patience): Promise<void> {
  if (patience === 'tries' && (hold.upgrades.isUnderWay || !parts.link.isUp)) throw busy(scope);
  const stopListening = hold.onEnd((error) => scope.end(error));
  try {
    const leave = await hold.upgrades.begin(scope);
    let removed: Promise<void> | undefined;
    let intent: Intent | undefined;
    try {
      // Another handle's upgrade may have had the turn before this one.
      if (hold.mode === 'write') return;
      intent = await placeIntent(parts, hold, scope);
      await becomeWriter(parts, hold, intent, scope, patience);
    } catch (error) {
      removed = takeBack(parts, hold, intent);
      throw error;
    } finally {
      leave(removed);
    }
  } finally {
    stopListening();
  }
}

function busy(scope: CallScope): Error {
  scope.standsBehind();
  return scope.timeUp();
}

/** Waits until the readers that are inside have left, and makes the hold a writer's. */
async function becomeWriter(
  parts: HoldParts,
  hold: Hold,
  intent: Intent,
  scope: CallScope,
  patience: Patience,
): Promise<void> {
  const { rules } = parts;
  const hasReaders = intent.readers.length > 0;
  if (hasReaders && patience === 'tries') throw busy(scope);
  if (hasReaders) await nameReaders(parts, hold, intent, scope);
  for (const name of intent.readers) await untilGone(parts, `${hold.request.queuePath}/${name}`, hold, scope);
  do {
    // Readers in the other queue of this process (the fleet's or the local one) have no nodes here.
    while (!rules.isOpenToWriter(hold)) {
      if (patience === 'tries') throw busy(scope);
      await rules.whenOpen(hold.request.key, scope);
    }
    await rules.passAsWriter(hold, scope);
    // Such a reader may have come in during that wait.
  } while (!rules.isOpenToWriter(hold));
  // The last await has let other code run, which may have blocked the event loop.
  const lost = hold.lossError();
  if (lost !== undefined) throw lost;
  hold.upgraded(intent.path);
}

/** Removes the intent of an upgrade that failed, and undoes what the upgrade wrote into the key's record. */
function takeBack(
  { janitor, rules }: HoldParts,
  { request, contender }: Hold,
  intent: Intent | undefined,
): Promise<void> {
  const undo = rules.takeBackOf(contender);
  // Without an answer nobody knows whether the intent was created, so it is searched for by its name.
  if (intent === undefined || undo === undefined)
    return janitor.sweep(request.queuePath, namePrefix('write', contender.id));
  return janitor.remove([intent.path], undo).done;
}

interface Intent {
  readonly path: string;
  readonly readers: readonly string[];
}

/** Creates the intent, and reads the queue once the intent is in it. */
async function placeIntent(parts: HoldParts, hold: Hold, scope: CallScope): Promise<Intent> {
  const { session, link, lists } = parts;
  const { queuePath, key } = hold.request;
  const prefix = namePrefix('write', hold.contender.id);
  for (;;) {
    await link.whenUp(scope);
    // An earlier round may have created the intent and lost the answer. The list shows the intent then.
    const seen = await scope.guard(lists.list(queuePath, prefix));
    const there = seen instanceof SessionError ? undefined : seen.children.find((name) => name.startsWith(prefix));
    if (seen instanceof SessionError) {
      if (isAboutTheLink(seen)) continue;
      if (seen.code === 'NO_NODE') hold.lose('removed');
      throw hold.lossError() ?? refusal(seen, key);
    }
    if (!seen.children.includes(hold.contender.name)) hold.lose('removed');
    if (there !== undefined) return intentOf(hold, there, seen.children);
    const requests = [create(`${queuePath}/${prefix}`, 'ephemeral-sequential'), listQueue(queuePath)] as const;
    const [created, listed] = await scope.guard(session.batch(requests));
    if (!(created instanceof SessionError) && !(listed instanceof SessionError)) {
      return intentOf(hold, created.path.slice(queuePath.length + 1), listed.children);
    }
    // Where the parent is missing, the upgradeable node is gone as well, and the next list shows that.
    if (created instanceof SessionError && !isAboutTheLink(created) && created.code !== 'NO_NODE')
      throw refusal(created, key);
  }
}

function intentOf({ request: { queuePath, key } }: Hold, name: string, children: readonly string[]): Intent {
  const foreign = readQueue(children).find(({ ours }) => !ours);
  if (foreign !== undefined) {
    const text = `Another kind of client queues on ${key} as ${foreign.name}, and knows nothing of upgrades: it could enter beside the writer`;
    throw new LockConfigurationError(text, key);
  }
  return { path: `${queuePath}/${name}`, readers: readersInside(children, name).map((reader) => reader.name) };
}

async function nameReaders(parts: HoldParts, hold: Hold, intent: Intent, scope: CallScope): Promise<void> {
  const { session, link } = parts;
  for (;;) {
    await link.whenUp(scope);
    const [written] = await scope.guard(session.batch([set(intent.path, encodeIntent(intent.readers))]));
    if (!(written instanceof SessionError)) return;
    if (!isAboutTheLink(written)) throw refusal(written, hold.request.key);
  }
}

async function untilGone(parts: HoldParts, path: string, hold: Hold, scope: CallScope): Promise<void> {
  const { session, link } = parts;
  for (;;) {
    await link.whenUp(scope);
    const changed = new Latch();
    const watcher = { onWatchEvent: (): void => changed.open() };
    const stopListening = link.onChange('contenders', () => changed.open());
    try {
      const [found] = await scope.guard(session.batch([get(path, watcher)]));
      if (!(found instanceof SessionError)) {
        scope.standsBehind(() => describeReader(parts, path, found, hold));
        await scope.guard(changed.opened());
      } else if (found.code === 'NO_NODE') return;
      else if (!isAboutTheLink(found)) throw refusal(found, hold.request.key);
    } finally {
      stopListening();
      session.unwatch(path, watcher);
    }
  }
}

function describeReader({ holders }: HoldParts, path: string, node: NodeData, waiting: Hold): string {
  const own = holders.all().find(({ contender }) => contender.path === path);
  return own === undefined ? describeOther(path, node) : describeOwn(own, waiting.request.owner);
}

/** The servers let no node hold more. With very many readers an intent comes near this. */
const MAX_INTENT_BYTES = 2 ** 20;

/**
 * The data of an intent: the readers that were inside when it was placed. Without these names, a reader whose writer in
 * front gives up would enter beside the upgrader.
 */
export function encodeIntent(readers: readonly string[]): Uint8Array {
  return Buffer.from(JSON.stringify({ readers }));
}

/** Whether the intent lets this reader in. An intent without names lets nobody in. */
export function namesReader(data: Uint8Array, name: string): boolean {
  const readers = parseObject(data, MAX_INTENT_BYTES)?.readers;
  return Array.isArray(readers) && readers.includes(name);
}
