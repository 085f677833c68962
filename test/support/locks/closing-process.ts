import { openLockService } from '../../../lib/open.js';
import { resolveOptions } from '../../../lib/resolve-options.js';
import { type ConnectionState, isUp } from '../../../lib/session/connection-state.js';
import type { LockHandle } from '../../../lib/lock/handle.js';
import { onParentMessage, sendToParent } from '../process/parent.js';
import { Stalls } from '../process/stalls.js';
import { TICK_MS } from './times.js';

/**
 * Uses a lock service, closes it in the state it is told, and ends by itself. What it prints at its end is all that may
 * ever be printed: what the promises came to, and how long that took, stalls left out.
 */
const [connect = '', key = '', state = '', sessionMs = ''] = process.argv.slice(2);
process.exit = (): never => {
  throw new Error('Somebody called process.exit');
};
const { service } = openLockService(
  resolveOptions({
    connect,
    sessionTimeoutMs: Number(sessionMs),
    serverTickMs: TICK_MS,
    waitMs: 20_000,
    shutdownGraceMs: 0,
  }),
);
const outcomes: Record<string, string> = {};
const pending: Promise<void>[] = [];
let lock: LockHandle | undefined;

function note(name: string, promise: Promise<unknown>): void {
  const settled = promise.then(
    () => 'resolved',
    (error: Error & { code?: string }) => error.code ?? error.message,
  );
  pending.push(settled.then((outcome) => void (outcomes[name] = outcome)));
}

function until(isIt: (state: ConnectionState) => boolean): Promise<void> {
  return new Promise((resolve) => {
    service.connectionState$.subscribe((now) => {
      if (isIt(now)) resolve();
    });
  });
}

if (state !== 'connecting') await until(isUp);
if (['holding', 'suspended', 'lost', 'busy'].includes(state)) lock = await service.acquire(`${key}/held`);
if (['connecting', 'acquiring', 'waiting', 'busy'].includes(state)) note('acquire', service.acquire(key));
if (state === 'busy') {
  const upgradeable = await service.acquire(`${key}/upgradeable`, { mode: 'upgradeable' });
  note('upgrade', upgradeable.upgrade());
  note(
    'withLock',
    service.withLock(key, () => undefined),
  );
  note('acquireAll', service.acquireAll([`${key}/other`, key]));
  note(
    'transaction',
    service.transaction((tx) => tx.lock(key)),
  );
  note('read', service.acquire(key, { mode: 'read' }));
  service.watch(key).subscribe();
  service.events$.subscribe();
}
const stopListening = onParentMessage((message) => void obey(message as { type: string }));
await sendToParent({ type: 'ready' });

async function obey({ type }: { type: string }): Promise<void> {
  if (type === 'await suspension') {
    await until((now) => now === 'suspended');
    await sendToParent({ type: 'suspended' });
  } else if (type === 'await loss') {
    const { signal } = lock!;
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await sendToParent({ type: 'lost' });
  } else await close();
}

/** @returns how many milliseconds have passed since, of those in which the machine ran */
function stopwatch(): () => number {
  const stalls = Stalls.watch();
  const startedAt = performance.now();
  return () => Math.round(performance.now() - startedAt - stalls.totalMs);
}

async function close(): Promise<void> {
  stopListening();
  const sinceCall = stopwatch();
  await service.close();
  const closeMs = sinceCall();
  const sinceClosed = stopwatch();
  await Promise.all(pending);
  const settledMs = sinceClosed();
  const report = {
    outcomes,
    state: service.connectionState,
    isHeld: lock?.isHeld() ?? false,
    closeMs,
    settledMs,
  };
  process.on('exit', (code) => {
    process.stdout.write(JSON.stringify({ ...report, code, exitMs: sinceClosed() }));
  });
  process.disconnect();
}
