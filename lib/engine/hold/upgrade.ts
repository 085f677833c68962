import { LockConfigurationError } from '../../lock/errors.js';
import { readersInside, readQueue } from '../../queue/decide.js';
import { namePrefix } from '../../queue/node-name.js';
import { isAboutTheLink, SessionError } from '../../session/errors.js';
import { create, get, set } from '../../session/requests.js';
import { Bell } from '../bounds/bell.js';
import type { EngineContext } from '../context.js';
import { isDoorOpen, waitAtDoor } from '../acquire/doorway.js';
import { refusal } from '../acquire/enqueue.js';
import type { Hold } from './hold.js';
import { sawHolder } from '../acquire/holder-in-front.js';
import type { Interrupt } from '../bounds/interrupt.js';
import { listBehindWrites } from '../upkeep/list-behind-writes.js';
import { listQueue } from '../upkeep/list-queue.js';
import { clearing, passLockDelay } from '../policy/lock-delay.js';
import { encodeIntent } from './upgrade-intent.js';

/**
 * Turns an upgradeable hold into a writing one: an intent at the end of the queue keeps newcomers out, the readers that
 * are inside are named in it and waited for. Readers between the two that have not entered find themselves not named,
 * and wait. (Without the names, a reader whose writer in front gives up would get in beside the new writer.)
 *
 * @param ifBusy for those who would not wait: what to tell them where they would have to
 */
export async function upgradeHold(
  context: EngineContext,
  hold: Hold,
  interrupt: Interrupt,
  ifBusy?: () => Error,
): Promise<void> {
  if (ifBusy !== undefined && (hold.upgrades.isTaken || !context.uplink.isUp)) throw ifBusy();
  const stopListening = hold.onEnd((error) => interrupt.raise(error));
  try {
    const leave = await hold.upgrades.take(interrupt);
    let removed: Promise<void> | undefined;
    let intent: Intent | undefined;
    try {
      if (hold.mode === 'write') return;
      intent = await placeIntent(context, hold, interrupt);
      await becomeWriter(context, hold, intent, interrupt, ifBusy);
    } catch (error) {
      removed = takeBack(context, hold, intent);
      throw error;
    } finally {
      leave(removed);
    }
  } finally {
    stopListening();
  }
}

/** Lets the readers that are inside leave, and nobody else enter. */
async function becomeWriter(
  context: EngineContext,
  hold: Hold,
  intent: Intent,
  interrupt: Interrupt,
  ifBusy: (() => Error) | undefined,
): Promise<void> {
  if (ifBusy !== undefined && intent.readers.length > 0) throw ifBusy();
  await nameReaders(context, hold, intent, interrupt);
  interrupt.isBehindOthers = intent.readers.length > 0;
  for (const name of intent.readers) await untilGone(context, `${hold.request.queuePath}/${name}`, hold, interrupt);
  do {
    // Readers of the other queue of this process are no part of this one.
    while (!isDoorOpen(context, hold.request.key, 'write', hold)) {
      if (ifBusy !== undefined) throw ifBusy();
      await waitAtDoor(context, hold.request.key, interrupt);
    }
    await passLockDelayAsWriter(context, hold, interrupt);
  } while (!isDoorOpen(context, hold.request.key, 'write', hold));
  const lost = hold.lossError();
  if (lost !== undefined) throw lost;
  hold.upgraded(intent.path);
}

async function passLockDelayAsWriter(context: EngineContext, hold: Hold, interrupt: Interrupt): Promise<void> {
  const { request, place } = hold;
  // From the first time that its name may stand in the record, also if it never comes to write.
  if (context.settings.lockDelayMs > 0) hold.releaseWith(clearing(request.queuePath));
  for (;;) {
    await context.uplink.whenUp(interrupt);
    const passed = await passLockDelay(context, { ...request, mode: 'write' }, place, interrupt, 'waits');
    if (passed !== undefined) return;
  }
}

/** Removes the intent of an upgrade that failed, and what it wrote into the record. */
function takeBack({ janitor }: EngineContext, { request, place }: Hold, intent: Intent | undefined): Promise<void> {
  const { onGiveUp } = place.lockDelay;
  if (intent === undefined || onGiveUp === undefined)
    return janitor.sweep(request.queuePath, namePrefix('write', place.id));
  delete place.lockDelay.onGiveUp;
  return janitor.remove([intent.path], onGiveUp);
}

interface Intent {
  readonly path: string;
  readonly readers: readonly string[];
}

/** Goes on until the intent stands and the queue was seen after that. */
async function placeIntent(context: EngineContext, hold: Hold, interrupt: Interrupt): Promise<Intent> {
  const { session, uplink } = context;
  const { queuePath, key } = hold.request;
  const prefix = namePrefix('write', hold.place.id);
  for (;;) {
    await uplink.whenUp(interrupt);
    const seen = await interrupt.guard(listBehindWrites(session, queuePath, prefix));
    const there = seen instanceof SessionError ? undefined : seen.children.find((name) => name.startsWith(prefix));
    if (seen instanceof SessionError) {
      if (isAboutTheLink(seen)) continue;
      if (seen.code === 'NO_NODE') hold.lose('removed');
      throw hold.lossError() ?? refusal(seen, key);
    }
    if (!seen.children.includes(hold.place.name)) hold.lose('removed');
    if (there !== undefined) return intentOf(hold, there, seen.children);
    const requests = [create(`${queuePath}/${prefix}`, 'ephemeral-sequential'), listQueue(queuePath)] as const;
    const [created, listed] = await interrupt.guard(session.batch(requests));
    if (!(created instanceof SessionError) && !(listed instanceof SessionError)) {
      return intentOf(hold, created.path.slice(queuePath.length + 1), listed.children);
    }
    // Without a parent the upgradeable node is gone as well: the next look says so.
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

async function nameReaders(context: EngineContext, hold: Hold, intent: Intent, interrupt: Interrupt): Promise<void> {
  const { session, uplink } = context;
  if (intent.readers.length === 0) return;
  for (;;) {
    await uplink.whenUp(interrupt);
    const [written] = await interrupt.guard(session.batch([set(intent.path, encodeIntent(intent.readers))]));
    if (!(written instanceof SessionError)) return;
    if (!isAboutTheLink(written)) throw refusal(written, hold.request.key);
  }
}

async function untilGone(context: EngineContext, path: string, hold: Hold, interrupt: Interrupt): Promise<void> {
  const { session, uplink } = context;
  for (;;) {
    await uplink.whenUp(interrupt);
    const bell = new Bell();
    const watcher = { onWatchEvent: (): void => bell.ring() };
    const stopListening = uplink.onChange(() => bell.ring());
    try {
      const [found] = await interrupt.guard(session.batch([get(path, watcher)]));
      if (!(found instanceof SessionError)) {
        sawHolder(context, hold.request, path, found, interrupt);
        await interrupt.guard(bell.heard());
      } else if (found.code === 'NO_NODE') return;
      else if (!isAboutTheLink(found)) throw refusal(found, hold.request.key);
    } finally {
      stopListening();
      session.unwatch(path, watcher);
    }
  }
}
