import type { QueueNode } from '../../queue/node-name.js';
import { isAboutTheLink, SessionError } from '../../session/errors.js';
import {
  get,
  type GetRequest,
  multi,
  type MultiPart,
  type NodeData,
  type Outcome,
  set,
  type Stat,
} from '../../session/requests.js';
import { parseObject } from '../acquire/contender-data.js';
import type { EngineContext } from '../context.js';
import { refusal } from '../acquire/enqueue.js';
import type { Interrupt } from '../bounds/interrupt.js';
import type { LockRequest, Place } from '../acquire/place.js';

const NOTHING: readonly MultiPart[] = [];
const NO_DATA = new Uint8Array(0);

/** What the parent of a queue remembers: the holder that may write, or the last one, if it vanished. */
interface HolderRecord {
  readonly nodeName: string;
  readonly lockDelayMs: number;
}

/** 'tries': who does not stay in the queue for the delay to pass. */
export type Patience = 'waits' | 'tries';

/**
 * For stores that cannot check tokens: after a holder that vanished, the next one waits before it enters. The deletion of
 * a node does not say whether its holder vanished or gave it back, so a holder that may write leaves its name in the
 * parent's data, and takes it out in the transaction that gives the lock back.
 * @returns what belongs into that transaction; undefined when the contender must look again; 'held back' to one that only
 * tries, until the delay is over
 */
export async function passLockDelay(
  context: EngineContext,
  request: LockRequest,
  place: Place,
  interrupt: Interrupt,
  patience: Patience,
): Promise<readonly MultiPart[] | 'held back' | undefined> {
  const { session, settings } = context;
  if (settings.lockDelayMs === 0) return NOTHING;
  const { queuePath, key } = request;
  const writes = request.mode === 'exclusive' || request.mode === 'write';
  const own: HolderRecord = { nodeName: place.name, lockDelayMs: settings.lockDelayMs };
  const sent = session.batch(writes ? [get(queuePath), set(queuePath, encodeRecord(own))] : [get(queuePath)]);
  if (writes) place.lockDelay.onGiveUp = sent.then((outcomes) => undo(context, request, place, outcomes));
  const [read, written] = await interrupt.guard(sent);
  throwRefusal(read, key);
  throwRefusal(written, key);
  if (read instanceof SessionError) {
    if (patience === 'tries') throw refusal(read, key);
    // Our name may stand there now, over one that we have not seen: wait as if there had been one.
    interrupt.isBehindOthers = true;
    await sleep(context, settings.lockDelayMs, interrupt);
    return undefined;
  }
  const before = predecessorIn(read, place);
  if (before !== undefined) {
    if (patience === 'tries') {
      if (!isOver(context, queuePath, before)) return 'held back';
    } else {
      interrupt.isBehindOthers = true;
      if (writes) await putBack(context, place, interrupt);
      await sleep(context, Math.max(before.lockDelayMs, settings.lockDelayMs), interrupt);
    }
    place.lockDelay.waitedFor = before.nodeName;
    if (!writes) {
      const [cleared] = await interrupt.guard(session.batch([set(queuePath, NO_DATA, read.stat.version)]));
      throwRefusal(cleared, key);
    }
    // Much may have happened meanwhile.
    return undefined;
  }
  if (written instanceof SessionError) return undefined;
  return writes ? clearing(queuePath) : NOTHING;
}

/** What an orderly release does to the record, besides removing the node. */
export function clearing(queuePath: string): readonly MultiPart[] {
  return [set(queuePath, NO_DATA)];
}

/** Whether the delay after a holder that is not in the queue any more still keeps out everybody who only tries. */
export function isHeldBack(
  context: EngineContext,
  { key, queuePath }: LockRequest,
  parent: Outcome<GetRequest>,
  queue: readonly QueueNode[],
): boolean {
  throwRefusal(parent, key);
  if (parent instanceof SessionError) return false;
  const record = parseRecord(parent.data);
  if (record === undefined) context.sightings.forget(queuePath);
  if (record === undefined || queue.some(({ name }) => name === record.nodeName)) return false;
  context.sightings.sawGone(queuePath, record.nodeName);
  return !isOver(context, queuePath, record);
}

/** @returns how long the next holder is to wait for the one that vanished; undefined when none did */
export function pendingDelayMs(data: Uint8Array): number | undefined {
  return parseRecord(data)?.lockDelayMs;
}

/** The holder that vanished, and that this contender has still to wait for. */
function predecessorIn({ data }: NodeData, { name, lockDelay }: Place): HolderRecord | undefined {
  const record = parseRecord(data);
  return record?.nodeName === name || record?.nodeName === lockDelay.waitedFor ? undefined : record;
}

function isOver({ sightings, settings }: EngineContext, queuePath: string, record: HolderRecord): boolean {
  return sightings.ageMs(queuePath, record.nodeName) >= Math.max(record.lockDelayMs, settings.lockDelayMs);
}

/**
 * What takes the name of a contender that never held out of the record again. With the version that it left there:
 * whatever came after it stays. Where nobody knows what stood there before, the name stays, and the next one waits.
 */
function undo(
  { settings }: EngineContext,
  { queuePath }: LockRequest,
  place: Place,
  [read, written]: readonly (NodeData | Stat | SessionError)[],
): readonly MultiPart[] {
  if (read instanceof SessionError) return NOTHING;
  const { stat } = read as NodeData;
  const version = written instanceof SessionError ? stat.version + 1 : (written as Stat).version;
  const before = predecessorIn(read as NodeData, place);
  if (before === undefined) return [set(queuePath, NO_DATA, version)];
  // The longer one, so that who comes next need not know of both.
  const lockDelayMs = Math.max(before.lockDelayMs, settings.lockDelayMs);
  return [set(queuePath, encodeRecord({ ...before, lockDelayMs }), version)];
}

/** While it waits, a contender has not held: if it vanishes as well, the delay must be that of the holder before it. */
async function putBack({ session }: EngineContext, { lockDelay }: Place, interrupt: Interrupt): Promise<void> {
  const outcomes = await interrupt.guard(session.batch([multi((await lockDelay.onGiveUp)!)]));
  if (!outcomes.some((outcome) => outcome instanceof SessionError)) delete lockDelay.onGiveUp;
}

function throwRefusal(outcome: unknown, key: string): void {
  if (!(outcome instanceof SessionError) || isAboutTheLink(outcome)) return;
  // Gone or changed meanwhile: the next look tells.
  if (outcome.code !== 'NO_NODE' && outcome.code !== 'BAD_VERSION') throw refusal(outcome, key);
}

function encodeRecord(record: HolderRecord): Uint8Array {
  return Buffer.from(JSON.stringify(record));
}

function parseRecord(data: Uint8Array): HolderRecord | undefined {
  const value = parseObject(data);
  if (typeof value?.nodeName !== 'string' || !Number.isFinite(value.lockDelayMs)) return undefined;
  return { nodeName: value.nodeName, lockDelayMs: Number(value.lockDelayMs) };
}

async function sleep({ alarms, clock }: EngineContext, durationMs: number, interrupt: Interrupt): Promise<void> {
  let cancel: (() => void) | undefined;
  const passed = new Promise<void>((resolve) => {
    const alarm = alarms.set(clock.now() + durationMs, resolve);
    cancel = () => alarm.cancel();
  });
  try {
    await interrupt.guard(passed);
  } finally {
    cancel?.();
  }
}
