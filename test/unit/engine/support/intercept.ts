import type { Request } from '../../../../lib/session/requests.js';
import type { Client } from './engine-world.js';

type Batch = Client['session']['batch'];
type Send = (requests: readonly Request[]) => Promise<unknown[]>;

/** The next batch of this kind is sent by `handle`. */
export function intercept(
  { session }: Client,
  isMeant: (requests: readonly Request[]) => boolean,
  handle: (requests: readonly Request[], send: Send) => Promise<unknown[]>,
): void {
  const original = session.batch.bind(session);
  const send = original as unknown as Send;
  session.batch = ((requests: readonly Request[]) => {
    if (!isMeant(requests)) return send(requests);
    session.batch = original;
    return handle(requests, send);
  }) as unknown as Batch;
}
