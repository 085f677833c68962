import { LockError, type LockHandle } from '../../../lib/index.js';
import { createLockService } from '../../../lib/open.js';
import { onParentMessage, sendToParent } from '../process/parent.js';
import { TICK_MS } from './times.js';

/** A process whose lock is broken, or whose waits are drained. It tells the test what it is told, step by step. */
const [connect = '', key = '', way = '', count = '1'] = process.argv.slice(2);

const service = await createLockService({
  connect,
  sessionTimeoutMs: 20 * TICK_MS,
  serverTickMs: TICK_MS,
  waitMs: 60_000,
});
service.events$.subscribe((event) => {
  if (event.type === 'acquired' || event.type === 'requeued') void sendToParent({ ...event.toJSON() });
});

let goOn: () => void = () => undefined;
const toldToGoOn = new Promise<void>((resolve) => (goOn = resolve));
let isOver: () => void = () => undefined;
const over = new Promise<void>((resolve) => (isOver = resolve));
onParentMessage((message) => ((message as { type: string }).type === 'end' ? isOver() : goOn()));

function codeOf(error: unknown): string {
  return error instanceof LockError ? error.code : String(error);
}

/** Puts right what is half done, for as long as the test says. */
async function compensates(lock: LockHandle): Promise<void> {
  await new Promise((resolve) => lock.signal.addEventListener('abort', resolve));
  const { by, reason } = lock.signal.reason as { by: string; reason: string };
  await sendToParent({ type: 'told', isHeld: lock.isHeld(), by, reason });
  await toldToGoOn;
  await sendToParent({ type: 'put right' });
}

const WAYS: Readonly<Record<string, () => Promise<void>>> = {
  compensates: async () => {
    const code = await service.withLock(key, compensates).then(() => 'none', codeOf);
    await sendToParent({ type: 'caller', code });
  },
  'holds by hand': async () => {
    const lock = await service.acquire(key);
    await compensates(lock);
    await lock.release();
    await sendToParent({ type: 'released' });
  },
  holds: async () => {
    await using lock = await service.acquire(key);
    await new Promise((resolve) => lock.signal.addEventListener('abort', resolve));
    await sendToParent({ type: 'lost', isHeld: lock.isHeld() });
  },
  waits: async () => {
    const waiting = Array.from({ length: Number(count) }, () => service.acquire(key).then(() => 'entered', codeOf));
    await sendToParent({ type: 'outcomes', codes: await Promise.all(waiting) });
  },
};

await WAYS[way]!();
await over;
await service.close();
process.disconnect();
