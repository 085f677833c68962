import { createLockService } from '../../lib/open.js';
import { onParentMessage, sendToParent } from '../support/process/parent.js';

/** Holds a lock until it is killed. */
const [connect = '', key = ''] = process.argv.slice(2);
const locks = await createLockService({ connect, serverTickMs: 500, sessionTimeoutMs: 3_000 });
const lock = await locks.acquire(key);
onParentMessage(() => void lock.release());
await sendToParent({ type: 'held', nodePath: lock.nodePath });
