import { writeSync } from 'node:fs';
import { createLockService } from '../../../lib/open.js';
import { onParentMessage, sendToParent } from '../process/parent.js';
import { TICK_MS } from './times.js';

/**
 * Holds a lock, and when told spins without ever giving the event loop a turn, until it notices that it stood still: what
 * it asks of the lock then runs before any timer or event could tell anybody anything.
 */
const [connect = '', key = '', sessionMs = ''] = process.argv.slice(2);
/** Less was the machine, not the test. */
const STOOD_STILL_MS = 0.75 * Number(sessionMs);
/** The test should have stopped this process long before. */
const SPIN_MS = 5_000;

const service = await createLockService({
  connect,
  sessionTimeoutMs: Number(sessionMs),
  serverTickMs: TICK_MS,
});
const lock = await service.acquire(key);
await sendToParent({ type: 'holds', token: lock.fencingToken });

onParentMessage(() => {
  // Before it is said, as the test may stop this process at the very moment.
  const startedAt = performance.now();
  let lastAt = startedAt;
  writeSync(process.stdout.fd, 'spinning\n');
  while (lastAt - startedAt < SPIN_MS) {
    const now = performance.now();
    if (now - lastAt >= STOOD_STILL_MS) {
      report(now - lastAt);
      return;
    }
    lastAt = now;
  }
  void sendToParent({ type: 'never stood still' });
});

function report(stoodStillMs: number): void {
  const isHeld = lock.isHeld();
  const remainingMs = lock.remainingMs();
  void sendToParent({ type: 'first line', stoodStillMs, isHeld, remainingMs, lossCode: lossCode() });
  setImmediate(() => void sendToParent({ type: 'later', isHeld: lock.isHeld(), aborted: lock.signal.aborted }));
}

function lossCode(): string | undefined {
  try {
    lock.assertHeld();
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
}
