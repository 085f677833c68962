import { SessionError } from '../../../lib/session/errors.js';
import type { ReplyTo, Request } from '../../../lib/session/requests.js';
import type { Session } from '../../../lib/session/session.js';

/** Sends one request. Rejects with its `SessionError`. */
export async function replyTo<R extends Request>(session: Pick<Session, 'batch'>, request: R): Promise<ReplyTo<R>> {
  const [outcome] = await session.batch([request]);
  if (outcome instanceof SessionError) throw outcome;
  return outcome;
}
