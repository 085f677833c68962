import type { AcquireOptions } from '../../../lib/lock/acquire-options.js';
import { createLockService } from '../../../lib/open.js';
import { onParentMessage, sendToParent } from '../process/parent.js';

/** Holds a lock until it is killed. Of the options it takes what JSON can say, and recovers nothing if it is to recover. */
const [connect = '', tickMs = '', key = '', options = '{}'] = process.argv.slice(2);
const given = JSON.parse(options) as AcquireOptions;
const service = await createLockService({
  connect,
  sessionTimeoutMs: 2 * Number(tickMs),
  serverTickMs: Number(tickMs),
});
const lock = await service.acquire(key, {
  ...given,
  ...(given.onAbandoned === 'recover' ? { recover: () => undefined } : {}),
});
onParentMessage(() => undefined);
await sendToParent({ type: 'holds', token: lock.fencingToken });
