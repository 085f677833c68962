import { openSession, whenUp } from '../../../lib/open.js';
import { resolveOptions } from '../../../lib/resolve-options.js';
import { SessionError } from '../../../lib/session/errors.js';
import { create, list, remove } from '../../../lib/session/requests.js';
import { NODE_DATA, SESSION_TIMEOUT_MS, type SessionDriver } from './driver.js';
import { replyTo } from '../../support/sessions/reply-to.js';

export async function connectOurs(connect: string): Promise<SessionDriver> {
  const session = openSession(resolveOptions({ connect, sessionTimeoutMs: SESSION_TIMEOUT_MS }));
  await whenUp(session, 10_000);
  return {
    async makeParent(path) {
      await session.batch([create(path, 'persistent')]);
    },
    async createAndList(parent) {
      const [created, listed] = await session.batch([
        create(`${parent}/lock-`, 'ephemeral-sequential', NODE_DATA),
        list(parent),
      ]);
      if (created instanceof SessionError) throw created;
      if (listed instanceof SessionError) throw listed;
      return created.path;
    },
    async remove(path) {
      await replyTo(session, remove(path));
    },
    close: () => session.close(),
  };
}
