import { SessionError } from '../session/errors.js';
import { get, type MultiPart, type NodeData, set } from '../session/requests.js';
import { parseObject } from './contender-data.js';
import type { EngineContext } from './context.js';
import type { Interrupt } from './interrupt.js';
import type { LockRequest, Place } from './place.js';

const NOTHING: readonly MultiPart[] = [];
const NO_DATA = new Uint8Array(0);

/** What the parent of a queue remembers: the holder that may write, or the last one, if it vanished. */
interface HolderRecord {
  readonly nodeName: string;
  readonly lockDelayMs: number;
}

/**
 * For stores that cannot check tokens: after a holder that vanished, the next one waits before it enters. The deletion of
 * a node does not say whether its holder vanished or gave it back, so a holder that may write leaves its name in the
 * parent's data, and takes it out in the transaction that gives the lock back.
 * @returns what belongs into that transaction; undefined when the contender must look again
 */
export async function passLockDelay(
  context: EngineContext,
  request: LockRequest,
  place: Place,
  interrupt: Interrupt,
): Promise<readonly MultiPart[] | undefined> {
  const { session, settings } = context;
  if (settings.lockDelayMs === 0) return NOTHING;
  const { queuePath, mode } = request;
  const writes = mode === 'exclusive' || mode === 'write';
  const own: HolderRecord = { nodeName: place.name, lockDelayMs: settings.lockDelayMs };
  const requests = writes ? [get(queuePath), set(queuePath, Buffer.from(JSON.stringify(own)))] : [get(queuePath)];
  const [read, written] = await interrupt.guard(session.batch(requests));
  if (read instanceof SessionError || written instanceof SessionError) {
    // Our name may stand there now, over one that we have not seen: wait as if there had been one.
    await sleep(context, settings.lockDelayMs, interrupt);
    return undefined;
  }
  const before = parseRecord((read as NodeData).data);
  if (before !== undefined && before.nodeName !== place.name) {
    interrupt.isBehindOthers = true;
    await sleep(context, Math.max(before.lockDelayMs, settings.lockDelayMs), interrupt);
    if (!writes) await interrupt.guard(session.batch([set(queuePath, NO_DATA, (read as NodeData).stat.version)]));
    // Much may have happened meanwhile.
    return undefined;
  }
  return writes ? [set(queuePath, NO_DATA)] : NOTHING;
}

/** @returns how long the next holder is to wait for the one that vanished; undefined when none did */
export function pendingDelayMs(data: Uint8Array): number | undefined {
  return parseRecord(data)?.lockDelayMs;
}

function parseRecord(data: Uint8Array): HolderRecord | undefined {
  const value = parseObject(data);
  if (typeof value?.nodeName !== 'string' || typeof value.lockDelayMs !== 'number') return undefined;
  return { nodeName: value.nodeName, lockDelayMs: value.lockDelayMs };
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
