import { afterEach, describe, expect, it } from '@jest/globals';
import { LockConfigurationError } from '../../../../lib/lock/errors.js';
import { systemClock } from '../../../../lib/lock/clock.js';
import type { Dialer, Link, LinkListener, Server } from '../../../../lib/session/core/link.js';
import { SessionClient } from '../../../../lib/session/core/session-client.js';
import { ANYONE } from '../../../../lib/session/requests.js';
import { StateLog } from '../../../support/sessions/state-log.js';
import { eventually } from '../../../support/process/eventually.js';

const GRANTED = { timeoutMs: 10_000, sessionId: 7n, password: new Uint8Array(16) };
const UNFIT = new LockConfigurationError('These servers tell tokens in another way');

/** Makes links that give their servers up for good as soon as they are asked for something. */
class UnfitDialer implements Dialer {
  dials = 0;

  dial(_server: Server, listener: LinkListener): Link {
    this.dials += 1;
    setImmediate(() => listener.onOpen());
    return {
      lastZxid: 0n,
      handshake: () =>
        void setImmediate(() => {
          listener.onActivity();
          listener.onHandshake(GRANTED);
        }),
      send: () => {
        setImmediate(() => listener.onClosed(UNFIT));
        return true;
      },
      flush: () => undefined,
      destroy: () => undefined,
    };
  }
}

describe('A link that refuses its servers for good', () => {
  let session: SessionClient | undefined;
  afterEach(() => session?.close());

  it('ends the session at once: every request fails, nothing is dialled again, and the reason is kept', async () => {
    const dialer = new UnfitDialer();
    session = new SessionClient(
      {
        servers: [{ host: 'zk1', port: 2181 }],
        chroot: '',
        sessionTimeoutMs: 10_000,
        serverTickMs: 500,
        namespace: '',
        auth: [],
        acl: ANYONE,
        clock: systemClock,
        random: Math.random,
      },
      dialer,
    );
    const log = new StateLog(session);
    await eventually('it is up', () => session?.state === 'connected', { everyMs: 1 });

    const [outcome] = await session.batch([{ op: 'create', path: '/node-', mode: 'ephemeral-sequential' }]);

    expect(outcome).toMatchObject({ outcomeUnknown: true });
    expect(log.states).toEqual(['connecting', 'connected', 'lost', 'closed']);
    expect(session.failure).toBe(UNFIT);
    expect(await session.batch([{ op: 'exists', path: '/' }])).toEqual([
      expect.objectContaining({ code: 'CLOSED', cause: UNFIT }),
    ]);
    expect(dialer.dials).toBe(1);
  });
});
