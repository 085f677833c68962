import { create, list, remove } from '../../../lib/session/requests.js';
import type { SessionClient } from '../../../lib/session/core/session-client.js';
import { replyTo } from '../../support/sessions/reply-to.js';

const AT_ONCE = 200;

/** So many times a node is made, listed and removed, 200 at a time, with a watch that is set and used up. */
export async function runCycles(session: SessionClient, cycles: number): Promise<void> {
  let left = cycles;
  const watcher = { onWatchEvent: () => undefined };
  const worker = async (index: number): Promise<void> => {
    const parent = `/cycles-${index}`;
    await session.batch([create(parent, 'persistent')]);
    while (left > 0) {
      left -= 1;
      const [made] = await session.batch([create(`${parent}/lock-`, 'ephemeral-sequential'), list(parent, watcher)]);
      if (made instanceof Error) throw made;
      await replyTo(session, remove(made.path));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => worker(index)));
}
