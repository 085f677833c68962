import { createLockService } from '../../../../lib/open.js';

// Nothing but locks in memory could keep this process alive.
const [one, other] = [await createLockService({ connect: 'memory:' }), await createLockService({ connect: 'memory:' })];
await one.acquire('/kept');
await other
  .acquire('/kept', { waitMs: 200 })
  .catch((error: { code: string }) => process.stdout.write(`${error.code}\n`));
const kept = await other.acquire('/kept-for-the-grace');
await other.close(200);
process.stdout.write(`closed, and ${kept.isHeld() ? 'held' : 'lost'}\n`);
one.watch('/kept').subscribe();
